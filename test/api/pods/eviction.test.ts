import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiControllers, testCluster } from '../../support/test-cluster.ts'

const pods = '/api/v1/namespaces/default/pods'
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'
const pod = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: 'a' } },
  spec: { containers: [{ name: 'c', image: 'i' }] },
})
const eviction = (name: string) => ({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } })
const running = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } }
const merge = 'application/merge-patch+json'

test('an eviction decrements the budget of the pod, and is rejected when it is used up', async (t) => {
  const cluster = await testCluster(t, { controllers: apiControllers })
  for (const name of ['a', 'b', 'pending']) await cluster.call('POST', pods, pod(name))
  for (const name of ['a', 'b']) await cluster.call('PATCH', `${pods}/${name}/status`, running, merge)
  const budget = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'one' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } },
  }
  await cluster.call('POST', budgets, budget)

  const evict = (name: string, body = eviction(name), query = '') =>
    cluster.call('POST', `${pods}/${name}/eviction${query}`, body)
  // The controller has not set the status of the budget yet.
  await assert.rejects(evict('a'), /: 429 .*The disruption budget one is still being processed by the server\./)

  const status = { observedGeneration: 1, disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 }
  await cluster.call('PATCH', `${budgets}/one/status`, { status }, merge)
  await assert.rejects(evict('a', eviction('b')), /: 400 .*name in URL does not match name in Eviction object/)
  await evict('a', eviction('a'), '?dryRun=All')
  await cluster.call('GET', `${pods}/a`)
  await evict('a')
  await assert.rejects(cluster.call('GET', `${pods}/a`), /: 404 /)
  await assert.rejects(evict('b'), /: 429 .*The disruption budget one does not allow evicting pods currently"/)
  // Pods that are not running need no budget. Old clients send policy/v1beta1.
  await assert.rejects(evict('pending', { ...eviction('pending'), apiVersion: 'policy/v2' }), /: 400 /)
  await evict('pending', { ...eviction('pending'), apiVersion: 'policy/v1beta1' })
  await assert.rejects(evict('gone'), /: 404 /)
})

test('an evicted pod and a used-up budget have a condition', async (t) => {
  const cluster = await testCluster(t, { controllers: apiControllers })
  const { metadata, spec, ...rest } = pod('a')
  await cluster.call('POST', pods, { ...rest, metadata, spec: { ...spec, nodeName: 'n' } })
  await cluster.call('PATCH', `${pods}/a/status`, running, merge)
  await cluster.call('POST', budgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'one' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } },
  })
  const statusOf = async (path: string) =>
    ((await cluster.call('GET', path)) as unknown as { status: { conditions: Record<string, unknown>[] } }).status
  const setStatus = (status: object) =>
    cluster.call(
      'PATCH',
      `${budgets}/one/status`,
      { status: { observedGeneration: 1, expectedPods: 2, ...status } },
      merge,
    )
  const evict = (query = '') => cluster.call('POST', `${pods}/a/eviction${query}`, eviction('a'))

  await setStatus({ disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 1 })
  await assert.rejects(evict(), /: 429 .*The disruption budget one does not allow evicting pods currently"/)
  const failed = {
    type: 'DisruptionAllowed',
    status: 'False',
    reason: 'SyncFailed',
    message: 'no scale',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  await setStatus({ conditions: [failed] })
  await assert.rejects(evict(), /: 429 .*does not allow evicting pods currently because it failed sync: no scale"/)

  await setStatus({ disruptionsAllowed: 1, conditions: [] })
  await evict('?dryRun=All')
  assert.deepEqual(
    (await statusOf(`${pods}/a`)).conditions.map(({ type }) => type),
    ['Ready'],
  )
  await evict()
  const { conditions } = await statusOf(`${pods}/a`)
  const { lastTransitionTime, ...target } = conditions[1] ?? {}
  assert.deepEqual(target, {
    type: 'DisruptionTarget',
    status: 'True',
    lastProbeTime: null,
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  })
  assert.equal(typeof lastTransitionTime, 'string')
  const [allowed] = (await statusOf(`${budgets}/one`)).conditions
  assert.deepEqual(
    { ...allowed, lastTransitionTime: '' },
    {
      type: 'DisruptionAllowed',
      status: 'False',
      observedGeneration: 1,
      lastTransitionTime: '',
      reason: 'InsufficientPods',
      message: '',
    },
  )
})
