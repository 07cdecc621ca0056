/** What the conformance suite asks of ResourceQuotas (`test/e2e/apimachinery/resource_quota.go`). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubernetesObject, V1ResourceQuota } from '@kubernetes/client-node'
import { waitFor } from '../../support/wait-for.ts'
import { conformanceClients, merging, pod } from '../clients.ts'

const clients = conformanceClients()

const makeQuota = (namespace: string, name: string, hard: Record<string, string>, more: object = {}) =>
  clients().core.createNamespacedResourceQuota({ namespace, body: { metadata: { name }, spec: { hard, ...more } } })

const used = (namespace: string, name: string, expected: Record<string, string>): Promise<V1ResourceQuota> =>
  waitFor(`${name} to say ${JSON.stringify(expected)}`, async () => {
    const quota = await clients().core.readNamespacedResourceQuota({ namespace, name })
    return Object.entries(expected).every(([resource, amount]) => quota.status?.used?.[resource] === amount) && quota
  })

const template = { metadata: { labels: { app: 'a' } }, spec: pod('p').spec }

/** What is counted: an object, and the resources of a quota that it uses one of. */
const lives: readonly [string, string, KubernetesObject & Record<string, unknown>, readonly string[]][] = [
  ['a service', 'svc', { apiVersion: 'v1', kind: 'Service', spec: { type: 'NodePort', ports: [{ port: 80 }] } }, ['services', 'services.nodeports']],
  ['a secret', 'secret', { apiVersion: 'v1', kind: 'Secret' }, ['secrets']],
  ['a configMap', 'config', { apiVersion: 'v1', kind: 'ConfigMap' }, ['count/configmaps']],
  [
    'a replication controller',
    'rc',
    { apiVersion: 'v1', kind: 'ReplicationController', spec: { replicas: 0, selector: { app: 'a' }, template } },
    ['replicationcontrollers'],
  ],
  [
    'a replica set',
    'rs',
    { apiVersion: 'apps/v1', kind: 'ReplicaSet', spec: { replicas: 0, selector: { matchLabels: { app: 'a' } }, template } },
    ['count/replicasets.apps'],
  ],
]

for (const [what, name, object, resources] of lives)
  test(`ResourceQuota should create a ResourceQuota and capture the life of ${what}.`, async () => {
    const { core, objects, namespace: make } = clients()
    const namespace = await make(`quota-${name}`)
    const amounts = (amount: string) => Object.fromEntries(resources.map((resource) => [resource, amount]))
    // Every namespace has the config map of the root authority.
    const [none, one] = name === 'config' ? ['1', '2'] : ['0', '1']
    if (name === 'config') await waitFor('it', () => core.readNamespacedConfigMap({ namespace, name: 'kube-root-ca.crt' }))
    await makeQuota(namespace, 'test-quota', amounts(one))
    await used(namespace, 'test-quota', amounts(none))
    await objects.create({ ...object, metadata: { name, namespace } })
    await used(namespace, 'test-quota', amounts(one))
    await assert.rejects(objects.create({ ...object, metadata: { name: `${name}-2`, namespace } }), /exceeded quota/)
    await objects.delete({ ...object, metadata: { name, namespace } }, undefined, undefined, undefined, undefined, 'Background')
    await used(namespace, 'test-quota', amounts(none))
  })

test('ResourceQuota should create a ResourceQuota and capture the life of a pod.', async () => {
  const { core, namespace: make } = clients()
  const namespace = await make('quota-pod')
  await makeQuota(namespace, 'test-quota', { pods: '2', cpu: '150m', memory: '10Mi', 'requests.example.com/dongle': '3' })
  await used(namespace, 'test-quota', { pods: '0', cpu: '0' })
  await core.createNamespacedPod({ namespace, body: pod('fits') })
  await used(namespace, 'test-quota', { pods: '1', cpu: '100m', memory: '1Mi' })
  await assert.rejects(
    core.createNamespacedPod({ namespace, body: pod('too-much') }),
    /exceeded quota: test-quota, requested: cpu=100m, used: cpu=100m, limited: cpu=150m/,
  )
  const dongles = { 'example.com/dongle': '4' }
  const greedy = {
    containers: [
      { name: 'c', image: 'i', resources: { requests: { cpu: '1m', memory: '1Mi', ...dongles }, limits: { cpu: '1m', memory: '1Mi', ...dongles } } },
    ],
  }
  await assert.rejects(core.createNamespacedPod({ namespace, body: pod('dongles', greedy) }), /exceeded quota/)
  await core.patchNamespacedPod({ namespace, name: 'fits', body: { metadata: { labels: { changed: 'yes' } } } }, merging)
  await used(namespace, 'test-quota', { pods: '1', cpu: '100m' })
  await core.deleteNamespacedPod({ namespace, name: 'fits', gracePeriodSeconds: 0 })
  await used(namespace, 'test-quota', { pods: '0', cpu: '0', memory: '0' })
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
  const quota = await used(namespace, 'test-quota', { cpu: '0' })
  await core.replaceNamespacedResourceQuota({ namespace, name: 'test-quota', body: { ...quota, spec: { hard: { cpu: '2', memory: '1Gi' } } } })
  await waitFor('the new limits', async () => (await core.readNamespacedResourceQuota({ namespace, name: 'test-quota' })).status?.hard?.cpu === '2')
  await core.deleteNamespacedResourceQuota({ namespace, name: 'test-quota' })
  await assert.rejects(core.readNamespacedResourceQuota({ namespace, name: 'test-quota' }), { code: 404 })
})

test('ResourceQuota should manage the lifecycle of a ResourceQuota', async () => {
  const { core, namespace: make } = clients()
  const namespace = await make('quota-lifecycle')
  await core.createNamespacedResourceQuota({ namespace, body: { metadata: { name: 'e2e', labels: { e2e: 'yes' } }, spec: { hard: { cpu: '1' } } } })
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
  await waitFor('the quota to go', async () => (await core.listNamespacedResourceQuota({ namespace })).items.length === 0)
})

test('ResourceQuota should apply changes to a resourcequota status', async () => {
  const { core, namespace: make } = clients()
  const namespace = await make('quota-status-writes')
  await makeQuota(namespace, 'e2e', { cpu: '500m', memory: '500Mi' })
  const quota = await used(namespace, 'e2e', { cpu: '0' })
  const body = { ...quota, status: { hard: { cpu: '500m', memory: '500Mi' } } }
  const replaced = await core.replaceNamespacedResourceQuotaStatus({ namespace, name: 'e2e', body })
  assert.deepEqual(replaced.status?.hard, body.status.hard)
  const patched = await core.patchNamespacedResourceQuotaStatus({ namespace, name: 'e2e', body: { status: { hard: { cpu: '1', memory: '1Gi' } } } }, merging)
  assert.deepEqual(patched.status?.hard, { cpu: '1', memory: '1Gi' })
  assert.deepEqual(patched.spec?.hard, { cpu: '500m', memory: '500Mi' })
})

for (const [title, scope, other, inside, outside] of [
  ['best effort scope', 'BestEffort', 'NotBestEffort', pod('p', { containers: [{ name: 'c', image: 'i' }] }), pod('p')],
  ['terminating scopes', 'Terminating', 'NotTerminating', pod('p', { activeDeadlineSeconds: 3600 }), pod('p')],
] as const)
  test(`ResourceQuota should verify ResourceQuota with ${title}.`, async () => {
    const { core, namespace: make } = clients()
    const namespace = await make(`quota-${scope.toLowerCase()}`)
    await makeQuota(namespace, 'in', { pods: '5' }, { scopes: [scope] })
    await makeQuota(namespace, 'out', { pods: '5' }, { scopes: [other] })
    await used(namespace, 'in', { pods: '0' })
    await used(namespace, 'out', { pods: '0' })
    for (const [body, counted, ignored] of [
      [inside, 'in', 'out'],
      [outside, 'out', 'in'],
    ] as const) {
      await core.createNamespacedPod({ namespace, body })
      await used(namespace, counted, { pods: '1' })
      await used(namespace, ignored, { pods: '0' })
      await core.deleteNamespacedPod({ namespace, name: 'p', gracePeriodSeconds: 0 })
      await used(namespace, counted, { pods: '0' })
    }
  })
