/** Pods with volumes are scheduled and their volumes bound; the test creates the nodes. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Pod } from '../../src/client/kinds.ts'
import { Storage } from '../controllers/volumes/storage.ts'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { readyNode } from './ready-node.ts'

const controllers = ['persistentvolume-binder', 'statefulset', 'serviceaccount']
const cluster = testCluster(
  { after },
  { controllers, controllerFlags: { 'enable-hostpath-provisioner': 'true' }, scheduler: true },
)
const classes = '/apis/storage.k8s.io/v1/storageclasses'
const selectedNode = 'volume.kubernetes.io/selected-node'

const aClass = (name: string, provisioner: string) => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name },
  provisioner,
  volumeBindingMode: 'WaitForFirstConsumer',
})
const claimVolume = (claimName: string) => [{ name: 'v', persistentVolumeClaim: { claimName } }]

test('volumes of a StatefulSet with delayed binding are provisioned where its pods are scheduled', async () => {
  const all = await Storage.in(await cluster, 'stateful')
  const { cluster: api } = all
  await readyNode(api, 'stateful', { for: 'stateful' })
  await api.call('POST', classes, aClass('late', 'kubernetes.io/host-path'))
  const claim = {
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'late',
    resources: { requests: { storage: '1Gi' } },
  }
  await api.call('POST', '/apis/apps/v1/namespaces/stateful/statefulsets', {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db' },
    spec: {
      replicas: 3,
      podManagementPolicy: 'Parallel',
      serviceName: 'db',
      selector: { matchLabels: { app: 'db' } },
      template: {
        metadata: { labels: { app: 'db' } },
        spec: {
          nodeSelector: { for: 'stateful' },
          containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
        },
      },
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim }],
    },
  })
  for (const at of [0, 1, 2]) {
    const bound = await all.claimIn('Bound', `data-db-${at}`)
    assert.equal(bound.metadata.annotations?.[selectedNode], 'stateful')
    const pod = await waitFor('the node', async () => {
      const live = (await api.call('GET', `${all.core}/pods/db-${at}`)) as unknown as Pod
      return live.spec?.nodeName ? live : undefined
    })
    assert.equal(pod.spec?.nodeName, 'stateful')
  }
  const { kubeconfigFile, folder } = await cluster
  for (const installed of installedKubectls()) {
    const output = await new Kubectl(installed, kubeconfigFile, folder).ok('get pvc -n stateful --no-headers')
    assert.equal(output.match(/^data-db-\d +Bound +pvc-\S+ +1Gi +RWO +late /gm)?.length, 3)
  }
})

test('a pod is scheduled where a local volume is, and no other pod gets the volume', async () => {
  const all = await Storage.in(await cluster, 'local')
  const { cluster: api } = all
  await readyNode(api, 'empty')
  await readyNode(api, 'full')
  await api.call('POST', classes, aClass('local', 'kubernetes.io/no-provisioner'))
  const required = {
    nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['full'] }] }],
  }
  await all.volume('only', { hostPath: undefined, local: { path: '/mnt/only' }, nodeAffinity: { required } })
  await all.claim('c')
  await all.claim('d')
  await all.pod('first', claimVolume('c'))
  const node = await waitFor(
    'the node',
    async () => ((await api.call('GET', `${all.core}/pods/first`)) as unknown as Pod).spec?.nodeName,
  )
  assert.equal(node, 'full')
  const claim = await all.claimIn('Bound', 'c')
  assert.equal(claim.spec?.volumeName, 'only')

  await all.pod('second', claimVolume('d'))
  const condition = await waitFor('the rejection', async () =>
    ((await api.call('GET', `${all.core}/pods/second`)) as unknown as Pod).status?.conditions?.find(
      ({ type }) => type === 'PodScheduled',
    ),
  )
  assert.equal(condition.reason, 'Unschedulable')
  assert.match(condition.message ?? '', /node\(s\) didn't find available persistent volumes to bind/)
  // A volume that is added later is enough.
  await all.volume('another', { hostPath: undefined, local: { path: '/mnt/another' }, nodeAffinity: { required } })
  await waitFor(
    'the node',
    async () => ((await api.call('GET', `${all.core}/pods/second`)) as unknown as Pod).spec?.nodeName === 'full',
  )
})

test('unbound claims with immediate binding, and missing claims, keep a pod pending', async () => {
  const all = await Storage.in(await cluster, 'waits')
  const { cluster: api } = all
  await readyNode(api, 'somewhere')
  const message = (name: string): Promise<string> =>
    waitFor('the rejection', async () => {
      const { status } = (await api.call('GET', `${all.core}/pods/${name}`)) as unknown as Pod
      return status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message
    })
  await all.pod('early', claimVolume('c'))
  assert.match(await message('early'), /^0\/\d+ nodes are available: persistentvolumeclaim "c" not found\./)
  await all.claim('unbound', { storageClassName: '' })
  await all.pod('immediate', claimVolume('unbound'))
  assert.match(
    await message('immediate'),
    /^0\/\d+ nodes are available: pod has unbound immediate PersistentVolumeClaims\./,
  )
  await all.volume('for-unbound', { storageClassName: '' })
  await waitFor(
    'the node',
    async () => ((await api.call('GET', `${all.core}/pods/immediate`)) as unknown as Pod).spec?.nodeName !== undefined,
  )
})
