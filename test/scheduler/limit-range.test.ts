/** LimitRanges, which are part of upstream's conformance tests of scheduling. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type LimitRange, limitRanges, namespaces, type Pod, pods } from '../../src/client/kinds.ts'
import { isDeleted, waitFor } from '../../src/client/objects/wait-for.ts'
import { clientFor } from '../support/client-for.ts'
import { testCluster } from '../support/test-cluster.ts'

type Resources = Record<string, string>

const limitRange = (
  name: string,
  namespace: string,
  limits: { min?: Resources; max?: Resources; default?: Resources; defaultRequest?: Resources },
): LimitRange => ({
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: { name, namespace, labels: { time: 'now', range: name } },
  spec: { limits: [{ type: 'Container', ...limits }] },
})

const pod = (name: string, requests: Resources = {}, limits: Resources = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: { containers: [{ name: 'c', image: 'i', resources: { requests, limits } }] },
})

const resourcesOf = ({ spec }: Pod) => spec?.containers[0]?.resources

test('[Conformance] should create a LimitRange with defaults and ensure pod has those defaults applied.', async (t) => {
  const client = clientFor(t, await testCluster(t, { nodes: 1 }))
  const min = { cpu: '50m', memory: '100Mi', 'ephemeral-storage': '100Gi' }
  const max = { cpu: '500m', memory: '500Mi', 'ephemeral-storage': '500Gi' }
  const defaultRequest = { cpu: '100m', memory: '200Mi', 'ephemeral-storage': '200Gi' }
  const defaultLimits = { cpu: '300m', memory: '300Mi', 'ephemeral-storage': '300Gi' }
  const made = await client.create(
    limitRanges,
    limitRange('limits', 'default', { min, max, default: defaultLimits, defaultRequest }),
  )
  assert.deepEqual(
    (await client.list(limitRanges, { namespace: 'default', labelSelector: 'time=now' })).items.length,
    1,
  )

  assert.deepEqual(resourcesOf(await client.create(pods, pod('plain'))), {
    requests: defaultRequest,
    limits: defaultLimits,
  })
  const partial = await client.create(
    pods,
    pod('partial', { cpu: '300m', memory: '150Mi' }, { 'ephemeral-storage': '300Gi', memory: '300Mi' }),
  )
  // Resources with a limit and no request are requested as limited.
  assert.deepEqual(resourcesOf(partial), {
    requests: { cpu: '300m', memory: '150Mi', 'ephemeral-storage': '300Gi' },
    limits: { cpu: '300m', memory: '300Mi', 'ephemeral-storage': '300Gi' },
  })
  await assert.rejects(
    client.create(pods, pod('small', { cpu: '10m', memory: '50Mi', 'ephemeral-storage': '50Gi' })),
    /minimum cpu usage per Container is 50m/,
  )
  await assert.rejects(
    client.create(pods, pod('large', { cpu: '600m' }, { cpu: '600m' })),
    /maximum cpu usage per Container is 500m/,
  )

  const lower = {
    ...made,
    spec: { limits: [{ ...made.spec!.limits[0]!, min: { cpu: '9m', memory: '49Mi', 'ephemeral-storage': '49Gi' } }] },
  }
  await client.update(limitRanges, lower)
  // Admission reads limit ranges from its own watch.
  const allowed = await admitted(() =>
    client.create(pods, pod('small', { cpu: '10m', memory: '50Mi', 'ephemeral-storage': '50Gi' })),
  )
  assert.equal(allowed.metadata.name, 'small')
  await assert.rejects(
    client.create(pods, pod('large', { cpu: '600m' }, { cpu: '600m' })),
    /maximum cpu usage per Container is 500m/,
  )

  await client.delete(limitRanges, 'default', 'limits')
  await waitFor(client, limitRanges, { namespace: 'default', name: 'limits' }, isDeleted)
  await admitted(() => client.create(pods, pod('large', { cpu: '600m' }, { cpu: '600m' })))
})

test('[Conformance] should list, patch and delete a LimitRange by collection', async (t) => {
  const client = clientFor(t, await testCluster(t))
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } })
  const limits = {
    min: { cpu: '50m' },
    max: { cpu: '500m' },
    default: { cpu: '300m' },
    defaultRequest: { cpu: '100m' },
  }
  await client.create(limitRanges, limitRange('one', 'default', limits))
  await client.create(limitRanges, limitRange('two', 'other', limits))
  const listed = async () =>
    (await client.list(limitRanges, { labelSelector: 'time=now' })).items.map(
      ({ metadata }) => `${metadata.namespace}/${metadata.name}`,
    )
  assert.deepEqual((await listed()).sort(), ['default/one', 'other/two'])

  const spec = { limits: [{ type: 'Container', ...limits, min: { cpu: '40m' } }] }
  const patched = await client.patch(
    limitRanges,
    'default',
    'one',
    { metadata: { labels: { one: 'patched' } }, spec },
    'strategic',
  )
  assert.deepEqual([patched.metadata.labels?.one, patched.spec?.limits[0]?.min?.cpu], ['patched', '40m'])

  await client.deleteCollection(limitRanges, { namespace: 'default', labelSelector: 'one=patched' })
  await waitFor(client, limitRanges, { namespace: 'default', name: 'one' }, isDeleted)
  assert.deepEqual(await listed(), ['other/two'])
})

const timeoutMs = 30_000

/** Retries until the object is admitted; resolves with it. */
async function admitted<T>(make: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    try {
      return await make()
    } catch (error) {
      if (performance.now() > deadline) throw error
    }
  }
}
