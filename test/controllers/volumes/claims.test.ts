/** Binding and release of claims and volumes. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { installedKubectls, Kubectl } from '../../support/kubectl.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { Storage, volumesPath } from './storage.ts'

const controllers = [
  'persistentvolume-binder',
  'pvc-protection',
  'pv-protection',
  'ephemeral-volume',
  'persistentvolume-expander',
  'serviceaccount',
]
const cluster = testCluster({ after }, { controllers, controllerFlags: { 'pvclaimbinder-sync-period': '100ms' } })
const storage = async (name: string): Promise<Storage> => await Storage.in(await cluster, name)
const classesPath = '/apis/storage.k8s.io/v1/storageclasses'
const classOf = (name: string, more: object) => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name },
  provisioner: 'example.com/p',
  ...more,
})

test('PersistentVolumes(Claims) should run through the lifecycle of a PV and a PVC', async () => {
  const all = await storage('lifecycle')
  await all.volume('lifecycle')
  await all.volumeIn('Available', 'lifecycle')
  await all.claim('c')
  const claim = await all.claimIn('Bound', 'c')
  assert.equal(claim.spec?.volumeName, 'lifecycle')
  assert.deepEqual([claim.status?.capacity, claim.status?.accessModes], [{ storage: '1Gi' }, ['ReadWriteOnce']])
  assert.deepEqual(claim.metadata.annotations, {
    'pv.kubernetes.io/bind-completed': 'yes',
    'pv.kubernetes.io/bound-by-controller': 'yes',
  })
  const volume = await all.volumeIn('Bound', 'lifecycle')
  assert.equal(volume.spec?.claimRef?.uid, claim.metadata.uid)
  assert.equal(volume.metadata.annotations?.['pv.kubernetes.io/bound-by-controller'], 'yes')
  await all.cluster.call('DELETE', `${all.claims}/c`)
  await all.deletionOf(`${all.claims}/c`)
  await all.volumeIn('Released', 'lifecycle')
  // An administrator makes it available.
  await all.patch(`${volumesPath}/lifecycle`, { spec: { claimRef: null } })
  await all.claim('again')
  await all.claimIn('Bound', 'again')
  await all.cluster.call('DELETE', `${all.claims}/again`)
  await all.volumeIn('Released', 'lifecycle')
  await all.cluster.call('DELETE', `${volumesPath}/lifecycle`)
  await all.deletionOf(`${volumesPath}/lifecycle`)
})

test('a claim waits for a matching volume with an event', async () => {
  const all = await storage('waits')
  await all.volume('waits-small', { capacity: { storage: '10Mi' }, storageClassName: '' })
  await all.claim('c', { storageClassName: '' })
  const { message, type, source } = await all.event('c', 'FailedBinding')
  assert.deepEqual(
    [type, message],
    ['Normal', 'no persistent volumes available for this claim and no storage class is set'],
  )
  assert.equal(source?.component, 'persistentvolume-controller')
  await all.volume('waits-large', { storageClassName: '' })
  assert.equal((await all.claimIn('Bound', 'c')).spec?.volumeName, 'waits-large')
})

test('a claim and a volume reserved for each other are bound without the annotation', async () => {
  const all = await storage('kept')
  await all.volume('kept', { claimRef: { namespace: 'kept', name: 'c' } })
  await all.claim('other')
  await all.claim('c', { volumeName: 'kept' })
  const claim = await all.claimIn('Bound', 'c')
  assert.deepEqual(claim.metadata.annotations, { 'pv.kubernetes.io/bind-completed': 'yes' })
  assert.equal((await all.volumeIn('Bound', 'kept')).metadata.annotations, undefined)
  await all.claimIn('Pending', 'other')
  assert.match(
    (await all.event('other', 'ProvisioningFailed')).message ?? '',
    /^storageclass.storage.k8s.io "kept" not found$/,
  )
})

test('a claim whose volume was deleted is lost', async () => {
  const all = await storage('lost')
  await all.volume('lost')
  await all.claim('c')
  await all.claimIn('Bound', 'c')
  await all.cluster.call('DELETE', `${volumesPath}/lost`)
  await all.patch(`${volumesPath}/lost`, { metadata: { finalizers: null } })
  assert.equal((await all.claimIn('Lost', 'c')).status?.capacity, undefined)
  assert.equal(
    (await all.event('c', 'ClaimLost')).message,
    'Bound claim has lost its PersistentVolume. Data on the volume is lost!',
  )
})

test('a class requests provisioning or waits for the first consumer', async () => {
  const all = await storage('classes')
  await all.cluster.call('POST', classesPath, classOf('classes-now', {}))
  await all.cluster.call('POST', classesPath, classOf('classes-later', { volumeBindingMode: 'WaitForFirstConsumer' }))
  await all.claim('now', { storageClassName: 'classes-now' })
  await all.claim('later', { storageClassName: 'classes-later' })
  assert.match(
    (await all.event('now', 'ExternalProvisioning')).message ?? '',
    /^Waiting for a volume to be created either by the external provisioner 'example.com\/p' or/,
  )
  const provisionerOf = async (name: string): Promise<string | undefined> =>
    (await all.claimIn('Pending', name)).metadata.annotations?.['volume.kubernetes.io/storage-provisioner']
  assert.equal(await provisionerOf('now'), 'example.com/p')
  assert.equal(
    (await all.event('later', 'WaitForFirstConsumer')).message,
    'waiting for first consumer to be created before binding',
  )
  await all.pod('p', [{ name: 'v', persistentVolumeClaim: { claimName: 'later' } }])
  assert.equal((await all.event('later', 'WaitForPodScheduled')).message, 'waiting for pod p to be scheduled')
  assert.equal(await provisionerOf('later'), undefined)
  await all.patch(`${all.claims}/later`, { metadata: { annotations: { 'volume.kubernetes.io/selected-node': 'n' } } })
  await waitFor('the provisioner to be requested', async () => (await provisionerOf('later')) === 'example.com/p')
})

test('a volume that cannot be deleted becomes Failed with a reason', async () => {
  const all = await storage('fails')
  await all.volume('fails', {
    persistentVolumeReclaimPolicy: 'Delete',
    hostPath: undefined,
    nfs: { server: 's', path: '/' },
  })
  await all.claim('c')
  await all.claimIn('Bound', 'c')
  await all.cluster.call('DELETE', `${all.claims}/c`)
  const { status } = await all.volumeIn('Failed', 'fails')
  assert.equal(
    status?.message,
    'error getting deleter volume plugin for volume "fails": no deletable volume plugin matched',
  )
  assert.equal((await all.event('fails', 'VolumeFailedDelete', '/api/v1/namespaces/default')).type, 'Warning')
})

test('a recycled volume is emptied by a pod and becomes available', async () => {
  const all = await storage('recycled')
  await waitFor('the account', () => all.cluster.call('GET', '/api/v1/namespaces/default/serviceaccounts/default'))
  await all.volume('recycled', { persistentVolumeReclaimPolicy: 'Recycle' })
  await all.claim('c')
  await all.claimIn('Bound', 'c')
  await all.cluster.call('DELETE', `${all.claims}/c`)
  const pod = '/api/v1/namespaces/default/pods/recycler-for-recycled'
  await waitFor('the recycler', () => all.cluster.call('GET', pod))
  await all.patch(`${pod}/status`, { status: { phase: 'Succeeded' } })
  const { spec } = await all.volumeIn('Available', 'recycled')
  assert.equal(spec?.claimRef, undefined)
  await all.deletionOf(pod)
})

test('a pod gets and owns claims for its ephemeral volumes', async () => {
  const all = await storage('ephemeral')
  const template = {
    metadata: { labels: { a: 'b' } },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      storageClassName: 'ephemeral',
    },
  }
  await all.volume('ephemeral')
  const pod = await all.pod('p', [{ name: 'v', ephemeral: { volumeClaimTemplate: template } }])
  const { metadata } = await all.claimIn('Bound', 'p-v')
  assert.deepEqual(metadata.ownerReferences, [
    { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: pod.metadata.uid, controller: true, blockOwnerDeletion: true },
  ])
  assert.deepEqual(metadata.labels, { a: 'b' })
  await all.claim('q-v')
  await all.pod('q', [{ name: 'v', ephemeral: { volumeClaimTemplate: template } }])
  assert.equal(
    (await all.event('q', 'FailedBinding')).message,
    'ephemeral volume v: PVC ephemeral/q-v was not created for pod ephemeral/q (pod is not owner)',
  )
})

test('an expanding claim waits for the external controller', async () => {
  const all = await storage('grows')
  await all.cluster.call('POST', classesPath, classOf('grows', { allowVolumeExpansion: true }))
  await all.volume('grows', { hostPath: undefined, csi: { driver: 'example.com', volumeHandle: 'h' } })
  await all.claim('c')
  await all.claimIn('Bound', 'c')
  await all.patch(`${all.claims}/c`, { spec: { resources: { requests: { storage: '2Gi' } } } })
  const { message, type, source } = await all.event('c', 'ExternalExpanding')
  assert.deepEqual(
    [type, message, source?.component],
    ['Normal', 'waiting for an external controller to expand this PVC', 'volume_expand'],
  )
})

for (const program of installedKubectls())
  test(`kubectl ${program.version} waits for a claim, describes it, and deletes it`, async () => {
    const namespace = `claims-${program.minor}`
    const all = await storage(namespace)
    const { kubeconfigFile, folder } = all.cluster
    const kubectl = new Kubectl(program, kubeconfigFile, folder, namespace)
    await all.claim('c', { storageClassName: '', selector: { matchLabels: { for: namespace } } })
    await all.event('c', 'FailedBinding')
    await kubectl.ok(
      'describe pvc c',
      /Status: +Pending[\s\S]*FailedBinding +.*persistentvolume-controller +no persistent volumes available/,
    )
    await all.cluster.call('POST', volumesPath, {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: namespace, labels: { for: namespace } },
      spec: { capacity: { storage: '2Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp/t8s' } },
    })
    await kubectl.ok("wait pvc/c --for 'jsonpath={.status.phase}=Bound' --timeout 20s", /condition met/)
    await kubectl.ok('get pvc c', new RegExp(`c +Bound +${namespace} +2Gi +RWO`))
    await kubectl.ok('delete pvc c', /persistentvolumeclaim "c" deleted/)
    await kubectl.ok(`wait pv/${namespace} --for 'jsonpath={.status.phase}=Released' --timeout 20s`, /condition met/)
    await kubectl.ok(`delete pv ${namespace}`, /persistentvolume ".*" deleted/)
  })
