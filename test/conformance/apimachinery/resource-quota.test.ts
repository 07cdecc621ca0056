/** Tests of the conformance suite for ResourceQuotas (`test/e2e/apimachinery/resource_quota.go`). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubernetesObject, V1ResourceQuota } from '@kubernetes/client-node'
import { waitFor } from '../../support/wait-for.ts'
import { conformanceClients, merging, pod } from '../support/clients.ts'
import { define } from '../support/definitions.ts'

const clients = conformanceClients()

const makeQuota = (namespace: string, name: string, hard: Record<string, string>, more: object = {}) =>
  clients().core.createNamespacedResourceQuota({ namespace, body: { metadata: { name }, spec: { hard, ...more } } })

/** The quota that most of upstream's tests create. */
const everything: Readonly<Record<string, string>> = {
  pods: '5',
  services: '10',
  'services.nodeports': '1',
  'services.loadbalancers': '1',
  replicationcontrollers: '10',
  resourcequotas: '1',
  cpu: '1',
  memory: '500Mi',
  configmaps: '10',
  secrets: '10',
  persistentvolumeclaims: '10',
  'requests.storage': '10Gi',
  'ephemeral-storage': '50Gi',
  'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '10',
  'gold.storageclass.storage.k8s.io/requests.storage': '10Gi',
  'requests.example.com/dongle': '3',
  'count/replicasets.apps': '5',
}

const used = (namespace: string, name: string, expected: Record<string, string>): Promise<V1ResourceQuota> =>
  waitFor(`${name} to say ${JSON.stringify(expected)}`, async () => {
    const quota = await clients().core.readNamespacedResourceQuota({ namespace, name })
    return Object.entries(expected).every(([resource, amount]) => quota.status?.used?.[resource] === amount) && quota
  })

const template = { metadata: { labels: { app: 'a' } }, spec: pod('p').spec }

/** A counted object, the quota resource that it uses once, and the limit of that resource. */
const lives: readonly [string, string, KubernetesObject & Record<string, unknown>, string, hard?: string][] = [
  ['a secret', 'secret', { apiVersion: 'v1', kind: 'Secret', data: { 'data-1': 'dmFsdWUtMQ==' } }, 'secrets', '1'],
  // Every namespace has the ConfigMap with the root CA.
  ['a configMap', 'config', { apiVersion: 'v1', kind: 'ConfigMap', data: { a: 'b' } }, 'configmaps', '2'],
  [
    'a replication controller',
    'rc',
    { apiVersion: 'v1', kind: 'ReplicationController', spec: { replicas: 0, selector: { app: 'a' }, template } },
    'replicationcontrollers',
  ],
  [
    'a replica set',
    'rs',
    {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      spec: { replicas: 0, selector: { matchLabels: { app: 'a' } }, template },
    },
    'count/replicasets.apps',
  ],
]

for (const [what, name, object, resource, hard] of lives)
  test(`ResourceQuota should create a ResourceQuota and capture the life of ${what}.`, async () => {
    const { core, objects, namespace: make } = clients()
    const namespace = await make(`quota-${name}`)
    const [none, one] = resource === 'configmaps' ? ['1', '2'] : ['0', '1']
    if (resource === 'configmaps')
      await waitFor('it', () => core.readNamespacedConfigMap({ namespace, name: 'kube-root-ca.crt' }))
    await makeQuota(namespace, 'test-quota', { ...everything, ...(hard && { [resource]: hard }) })
    await used(namespace, 'test-quota', { resourcequotas: '1', [resource]: none })
    await objects.create({ ...object, metadata: { name, namespace } })
    await used(namespace, 'test-quota', { [resource]: one })
    if (hard)
      await assert.rejects(objects.create({ ...object, metadata: { name: `${name}-2`, namespace } }), /exceeded quota/)
    await objects.delete(
      { ...object, metadata: { name, namespace } },
      undefined,
      undefined,
      undefined,
      undefined,
      'Background',
    )
    await used(namespace, 'test-quota', { [resource]: none })
  })

test('ResourceQuota should create a ResourceQuota and capture the life of a service.', async () => {
  const { core, namespace: make } = clients()
  const namespace = await make('quota-svc')
  await makeQuota(namespace, 'test-quota', everything)
  await used(namespace, 'test-quota', { resourcequotas: '1' })
  const service = (name: string, type: string, more: object = {}) =>
    core.createNamespacedService({
      namespace,
      body: { metadata: { name }, spec: { type, ports: [{ port: 80, targetPort: 80 }], ...more } },
    })
  await service('test-service', 'ClusterIP')
  await service('test-service-np', 'NodePort')
  await assert.rejects(
    service('test-service-lb', 'LoadBalancer', { allocateLoadBalancerNodePorts: true }),
    /exceeded quota: test-quota, requested: services\.nodeports=1/,
  )
  await used(namespace, 'test-quota', {
    resourcequotas: '1',
    services: '2',
    'services.nodeports': '1',
    'services.loadbalancers': '0',
  })
  for (const name of ['test-service', 'test-service-np']) await core.deleteNamespacedService({ namespace, name })
  await used(namespace, 'test-quota', { services: '0', 'services.nodeports': '0' })
})

test(
  'ResourceQuota should create a ResourceQuota and capture the life of a persistent volume claim with a storage ' +
    'class',
  async () => {
    const { core, namespace: make } = clients()
    const namespace = await make('quota-claim')
    await makeQuota(namespace, 'test-quota', everything)
    const claims = (count: string, storage: string) => ({
      persistentvolumeclaims: count,
      'requests.storage': storage,
      'gold.storageclass.storage.k8s.io/persistentvolumeclaims': count,
      'gold.storageclass.storage.k8s.io/requests.storage': storage,
    })
    await used(namespace, 'test-quota', { resourcequotas: '1', ...claims('0', '0') })
    const spec = {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'gold',
      resources: { requests: { storage: '1Gi' } },
    }
    await core.createNamespacedPersistentVolumeClaim({
      namespace,
      body: { metadata: { name: 'test-claim', finalizers: [] }, spec },
    })
    await used(namespace, 'test-quota', claims('1', '1Gi'))
    await core.patchNamespacedPersistentVolumeClaim(
      { namespace, name: 'test-claim', body: { metadata: { finalizers: null } } },
      merging,
    )
    await core.deleteNamespacedPersistentVolumeClaim({ namespace, name: 'test-claim' })
    await used(namespace, 'test-quota', claims('0', '0'))
  },
)

test('ResourceQuota should create a ResourceQuota and capture the life of a custom resource.', async () => {
  const { core, objects, namespace: make } = clients()
  const namespace = await make('quota-custom')
  const group = 'counted.example.com'
  const counted = `count/foos.${group}`
  await define(clients(), { group })
  await makeQuota(namespace, 'test-quota', { ...everything, [counted]: '1' })
  await used(namespace, 'test-quota', { resourcequotas: '1', [counted]: '0' })
  const foo = (name: string) => ({ apiVersion: `${group}/v1`, kind: 'Foo', metadata: { name, namespace } })
  await objects.create(foo('test-cr-1'))
  await used(namespace, 'test-quota', { [counted]: '1' })
  await assert.rejects(objects.create(foo('test-cr-2')), /exceeded quota/)
  await objects.delete(foo('test-cr-1'))
  await used(namespace, 'test-quota', { [counted]: '0' })
  await core.deleteNamespacedResourceQuota({ namespace, name: 'test-quota' })
})

/** A pod with requests and limits. */
const asking = (name: string, requests: object, limits: object = {}, more: object = {}) =>
  pod(name, { containers: [{ name: 'c', image: 'i', resources: { requests, limits } }], ...more })

test('ResourceQuota should create a ResourceQuota and capture the life of a pod.', async () => {
  const { core, namespace: make } = clients()
  const namespace = await make('quota-pod')
  await makeQuota(namespace, 'test-quota', everything)
  await used(namespace, 'test-quota', { resourcequotas: '1' })
  const dongles = { 'example.com/dongle': '2' }
  const fits = asking('test-pod', { cpu: '500m', memory: '252Mi', 'ephemeral-storage': '30Gi', ...dongles }, dongles)
  const made = await core.createNamespacedPod({ namespace, body: fits })
  const taken = {
    pods: '1',
    cpu: '500m',
    memory: '252Mi',
    'ephemeral-storage': '30Gi',
    'requests.example.com/dongle': '2',
  }
  await used(namespace, 'test-quota', taken)
  const refused = (body: ReturnType<typeof pod>, words: RegExp) =>
    assert.rejects(core.createNamespacedPod({ namespace, body }), words)
  const tooMuch = /exceeded quota: test-quota, requested: cpu=600m, used: cpu=500m, limited: cpu=1/
  await refused(asking('fail-pod', { cpu: '600m', memory: '100Mi' }), tooMuch)
  await refused(
    asking(
      'fail-pod-for-extended-resource',
      { cpu: '500m', memory: '100Mi', 'ephemeral-storage': '30Gi', ...dongles },
      dongles,
    ),
    /exceeded quota: test-quota, requested: ephemeral-storage=30Gi,requests\.example\.com\/dongle=2/,
  )
  const less = asking('test-pod', { cpu: '100m', memory: '100Mi', 'ephemeral-storage': '10Gi' }).spec.containers[0]
    ?.resources
  const [container] = made.spec?.containers ?? []
  const changed = { ...made, spec: { ...made.spec!, containers: [{ ...container!, resources: less }] } }
  await assert.rejects(core.replaceNamespacedPod({ namespace, name: 'test-pod', body: changed }), { code: 422 })
  await used(namespace, 'test-quota', taken)
  await core.deleteNamespacedPod({ namespace, name: 'test-pod', gracePeriodSeconds: 0 })
  await used(namespace, 'test-quota', {
    pods: '0',
    cpu: '0',
    memory: '0',
    'ephemeral-storage': '0',
    'requests.example.com/dongle': '0',
  })
})

test('ResourceQuota should create a ResourceQuota and ensure its status is promptly calculated.', async () => {
  const namespace = await clients().namespace('quota-status')
  await makeQuota(namespace, 'test-quota', { pods: '5', services: '10', resourcequotas: '1' })
  const { status } = await used(namespace, 'test-quota', { pods: '0', services: '0', resourcequotas: '1' })
  assert.deepEqual(status?.hard, { pods: '5', services: '10', resourcequotas: '1' })
})

test('ResourceQuota should be able to update and delete ResourceQuota.', async () => {
  const { core, namespace: make } = clients()
  const namespace = await make('quota-update')
  await makeQuota(namespace, 'test-quota', { cpu: '1', memory: '500Mi' })
  const body = { metadata: { name: 'test-quota' }, spec: { hard: { cpu: '2', memory: '1Gi' } } }
  assert.deepEqual(
    { ...(await core.replaceNamespacedResourceQuota({ namespace, name: 'test-quota', body })).spec?.hard },
    body.spec.hard,
  )
  await waitFor(
    'the new limits',
    async () => (await core.readNamespacedResourceQuota({ namespace, name: 'test-quota' })).status?.hard?.cpu === '2',
  )
  await core.deleteNamespacedResourceQuota({ namespace, name: 'test-quota' })
  await assert.rejects(core.readNamespacedResourceQuota({ namespace, name: 'test-quota' }), { code: 404 })
})

test('ResourceQuota should manage the lifecycle of a ResourceQuota', async () => {
  const { core, namespace: make } = clients()
  const namespace = await make('quota-lifecycle')
  await core.createNamespacedResourceQuota({
    namespace,
    body: { metadata: { name: 'e2e', labels: { e2e: 'yes' } }, spec: { hard: { cpu: '1' } } },
  })
  const patched = await core.patchNamespacedResourceQuota(
    { namespace, name: 'e2e', body: { metadata: { labels: { e2e: 'patched' } }, spec: { hard: { memory: '750Mi' } } } },
    merging,
  )
  assert.deepEqual([patched.metadata?.labels?.e2e, patched.spec?.hard], ['patched', { cpu: '1', memory: '750Mi' }])
  const { items } = await core.listResourceQuotaForAllNamespaces({ labelSelector: 'e2e=patched' })
  assert.deepEqual(
    items.map(({ metadata }) => metadata?.name),
    ['e2e'],
  )
  await core.deleteCollectionNamespacedResourceQuota({ namespace, labelSelector: 'e2e=patched' })
  await waitFor(
    'the quota to go',
    async () => (await core.listNamespacedResourceQuota({ namespace })).items.length === 0,
  )
})

test('ResourceQuota should apply changes to a resourcequota status', async () => {
  const { core, namespace: make } = clients()
  const namespace = await make('quota-status-writes')
  await makeQuota(namespace, 'e2e', { cpu: '500m', memory: '500Mi' })
  const quota = await used(namespace, 'e2e', { cpu: '0' })
  const body = { ...quota, status: { hard: { cpu: '500m', memory: '500Mi' } } }
  const replaced = await core.replaceNamespacedResourceQuotaStatus({ namespace, name: 'e2e', body })
  assert.deepEqual(replaced.status?.hard, body.status.hard)
  const patched = await core.patchNamespacedResourceQuotaStatus(
    { namespace, name: 'e2e', body: { status: { hard: { cpu: '1', memory: '1Gi' } } } },
    merging,
  )
  assert.deepEqual(patched.status?.hard, { cpu: '1', memory: '1Gi' })
  assert.deepEqual(patched.spec?.hard, { cpu: '500m', memory: '500Mi' })
})

const amounts = { requests: { cpu: '500m', memory: '200Mi' }, limits: { cpu: '1', memory: '400Mi' } }
const scopedHard = { 'requests.cpu': '1', 'requests.memory': '500Mi', 'limits.cpu': '2', 'limits.memory': '1Gi' }
const allOf = { 'requests.cpu': '500m', 'requests.memory': '200Mi', 'limits.cpu': '1', 'limits.memory': '400Mi' }
const noneOf = Object.fromEntries(Object.keys(allOf).map((resource) => [resource, '0']))
const burstable = asking('p', amounts.requests, amounts.limits)

for (const [title, scope, other, inside, outside, hard] of [
  ['best effort scope', 'BestEffort', 'NotBestEffort', asking('p', {}), burstable, {}],
  [
    'terminating scopes',
    'Terminating',
    'NotTerminating',
    asking('p', amounts.requests, amounts.limits, { activeDeadlineSeconds: 3600 }),
    burstable,
    scopedHard,
  ],
] as const)
  test(`ResourceQuota should verify ResourceQuota with ${title}.`, async () => {
    const { core, namespace: make } = clients()
    const namespace = await make(`quota-${scope.toLowerCase()}`)
    const [all, none] = scope === 'Terminating' ? [allOf, noneOf] : [{}, {}]
    await makeQuota(namespace, 'in', { pods: '5', ...hard }, { scopes: [scope] })
    await makeQuota(namespace, 'out', { pods: '5', ...hard }, { scopes: [other] })
    await used(namespace, 'in', { pods: '0' })
    await used(namespace, 'out', { pods: '0' })
    for (const [body, counted, ignored] of [
      [inside, 'in', 'out'],
      [outside, 'out', 'in'],
    ] as const) {
      await core.createNamespacedPod({ namespace, body })
      await used(namespace, counted, { pods: '1', ...all })
      await used(namespace, ignored, { pods: '0', ...none })
      await core.deleteNamespacedPod({ namespace, name: 'p', gracePeriodSeconds: 0 })
      await used(namespace, counted, { pods: '0', ...none })
    }
  })
