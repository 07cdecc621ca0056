/**
 * Tests of the conformance suite for disruption budgets of pods that run (`test/e2e/apps/disruption.go`), in its steps,
 * on simulated nodes.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Pod, PodDisruptionBudget } from '../../../src/client/kinds.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { Requests, refused } from '../support/requests.ts'

const cluster = testCluster({ after }, { nodes: 2 })
const requests = async (namespace: string): Promise<Requests> => Requests.in(await cluster, namespace)

const budget = (minAvailable: number | string) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'foo', creationTimestamp: null, labels: { foo: 'bar' } },
  spec: { selector: { matchLabels: { foo: 'bar' } }, minAvailable },
  status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
})

/** Makes a budget, and waits until its status is the controller's. */
async function budgeted(api: Requests, minAvailable: number | string): Promise<string> {
  const path = `${api.group('policy/v1')}/poddisruptionbudgets/foo`
  await api.post(`${api.group('policy/v1')}/poddisruptionbudgets`, budget(minAvailable))
  await waitFor(
    'the budget to be looked at',
    async () => ((await api.get<PodDisruptionBudget>(path)).status?.observedGeneration ?? 0) > 0,
  )
  return path
}

async function plainPods(api: Requests, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const containers = [{ name: 'donothing', image: 'pause:1' }]
    await api.post(`${api.core}/pods`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `pod-${index}`, labels: { foo: 'bar' } },
      spec: { containers, restartPolicy: 'Always' },
    })
  }
  await ready(api, count)
}

const ready = (api: Requests, count: number): Promise<readonly Pod[]> =>
  waitFor(`${count} ready pods`, async () => {
    const pods = await api.list<Pod>(`${api.core}/pods?labelSelector=foo%3Dbar`)
    const ready = pods.filter(
      ({ metadata, status }) =>
        !metadata.deletionTimestamp &&
        status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
    )
    return ready.length >= count && ready
  })

test('DisruptionController should observe PodDisruptionBudget status updated', async () => {
  const api = await requests('budget-observed')
  const path = await budgeted(api, 1)
  await plainPods(api, 3)
  await waitFor(
    'a disruption to be allowed',
    async () => ((await api.get<PodDisruptionBudget>(path)).status?.disruptionsAllowed ?? 0) > 0,
  )
})

test('DisruptionController should update/patch PodDisruptionBudget status', async () => {
  const api = await requests('budget-status')
  const path = await budgeted(api, 1)
  await plainPods(api, 1)
  const disruptedPods = { 'pod-0': new Date().toISOString().replace(/\.\d+/, '') }
  await api.update<PodDisruptionBudget>(
    path,
    (it) => ({ ...it, status: { ...it.status, disruptedPods } }),
    `${path}/status`,
  )
  assert.deepEqual((await api.get<PodDisruptionBudget>(`${path}/status`)).status?.disruptedPods, disruptedPods)
  const patched = await api.patch<PodDisruptionBudget>(`${path}/status`, { status: { disruptedPods: null } })
  assert.equal(patched.status?.disruptedPods, undefined)
})

test('DisruptionController should block an eviction until the PDB is updated to allow it', async () => {
  const api = await requests('budget-blocks')
  const path = await budgeted(api, 3)
  await api.post(`${api.group('apps/v1')}/replicasets`, {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'rs' },
    spec: {
      replicas: 3,
      selector: { matchLabels: { foo: 'bar' } },
      template: { metadata: { labels: { foo: 'bar' } }, spec: { containers: [{ name: 'c', image: 'httpd:1' }] } },
    },
  })
  const evict = (pod: Pod | undefined) =>
    api.post(`${api.core}/pods/${pod?.metadata.name}/eviction`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: pod?.metadata.name, namespace: api.namespace },
    })
  const isBlocked = async (pod: Pod | undefined) =>
    assert.match(await refused(429, evict(pod)), /"causes":\[\{"reason":"DisruptionBudget"/)
  const [first] = await ready(api, 3)
  await isBlocked(first)
  await api.update<PodDisruptionBudget>(path, (it) => ({ ...it, spec: { ...it.spec, minAvailable: 2 } }))
  await waitFor('a disruption to be allowed', async () => {
    const { metadata, status } = await api.get<PodDisruptionBudget>(path)
    return (
      status?.observedGeneration === metadata.generation && status?.currentHealthy === 3 && status.desiredHealthy === 2
    )
  })
  await evict(first)
  await api.patch(path, { spec: { minAvailable: null, maxUnavailable: 0 } })
  const [second] = await ready(api, 3)
  await isBlocked(second)
  await api.delete(path)
  await api.gone(path)
  await ready(api, 3)
  await evict(second)
})
