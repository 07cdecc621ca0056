/**
 * Tests of the conformance suite for disruption budgets (`test/e2e/apps/disruption.go`), in its steps, on nodes of both
 * types.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, PodDisruptionBudget } from '../../../src/client/kinds.ts'
import { inNamespace, type PodNodes } from '../support/pod-nodes.ts'
import { names, type Requests, refused } from '../support/requests.ts'
import { eventually, objectWhen, readyPods, template } from '../support/workloads.ts'

const labels = { foo: 'bar' }
const budgetsAt = (api: Requests) => `${api.group('policy/v1')}/poddisruptionbudgets`

const budget = (minAvailable: number | string, name = 'foo', more: Record<string, string> = {}) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, labels: { ...labels, ...more } },
  spec: { selector: { matchLabels: labels }, minAvailable },
})

/** Creates a budget, and resolves with its path when the controller has set its status. */
async function budgeted(api: Requests, minAvailable: number | string): Promise<string> {
  const path = `${budgetsAt(api)}/foo`
  await api.post(budgetsAt(api), budget(minAvailable))
  await objectWhen<PodDisruptionBudget>(api, path, 'is observed', ({ status }) => (status?.observedGeneration ?? 0) > 0)
  return path
}

async function createPods(api: Requests, count: number): Promise<void> {
  const pod = template(labels)
  for (let index = 0; index < count; index++)
    await api.post(`${api.core}/pods`, {
      apiVersion: 'v1',
      kind: 'Pod',
      ...pod,
      metadata: { ...pod.metadata, name: `pod-${index}` },
    })
  await readyPods(api, labels, count)
}

export function disruptionSuite(nodes: Promise<PodNodes>): void {
  test('DisruptionController should create a PodDisruptionBudget', async () => {
    const api = await inNamespace(nodes, 'budget-life')
    const path = `${budgetsAt(api)}/defaultbudget`
    await api.post(budgetsAt(api), budget(1, 'defaultbudget'))
    const updated = await api.update<PodDisruptionBudget>(path, (it) => ({
      ...it,
      spec: { ...it.spec, minAvailable: '2%' },
    }))
    assert.equal(updated.spec?.minAvailable, '2%')
    const patched = await api.patch<PodDisruptionBudget>(path, { spec: { minAvailable: '3%' } })
    assert.equal(patched.spec?.minAvailable, '3%')
    await api.delete(path)
    await api.gone(path)
  })

  test(
    'DisruptionController Listing PodDisruptionBudgets for all namespaces should list and delete a collection of ' +
      'PodDisruptionBudgets',
    async () => {
      const [first, second] = [await inNamespace(nodes, 'budgets-1'), await inNamespace(nodes, 'budgets-2')]
      const listed = 'labelSelector=e2e%3Dlisted'
      for (const [api, name] of [
        [first, 'a'],
        [first, 'b'],
        [second, 'c'],
      ] as const)
        await api.post(budgetsAt(api), budget(1, name, { e2e: 'listed' }))
      const everywhere = `/apis/policy/v1/poddisruptionbudgets?${listed}`
      assert.deepEqual(names(await first.list(everywhere)), ['a', 'b', 'c'])
      assert.deepEqual(names(await first.list(budgetsAt(first))), ['a', 'b'])
      await first.delete(budgetsAt(first))
      assert.deepEqual(names(await first.list(everywhere)), ['c'])
    },
  )

  defineStatus(nodes)
  defineEvictions(nodes)
}

function defineStatus(nodes: Promise<PodNodes>): void {
  test('DisruptionController should observe PodDisruptionBudget status updated', async () => {
    const api = await inNamespace(nodes, 'budget-observed')
    const path = await budgeted(api, 1)
    await createPods(api, 3)
    await objectWhen<PodDisruptionBudget>(
      api,
      path,
      'allows a disruption',
      ({ status }) => (status?.disruptionsAllowed ?? 0) > 0,
    )
  })

  test('DisruptionController should update/patch PodDisruptionBudget status', async () => {
    const api = await inNamespace(nodes, 'budget-status')
    const path = await budgeted(api, 1)
    await createPods(api, 1)
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
}

function defineEvictions(nodes: Promise<PodNodes>): void {
  test('DisruptionController should block an eviction until the PDB is updated to allow it', async () => {
    const api = await inNamespace(nodes, 'budget-blocks')
    const path = await budgeted(api, 3)
    await api.post(`${api.group('apps/v1')}/replicasets`, {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'rs' },
      spec: { replicas: 3, selector: { matchLabels: labels }, template: template(labels) },
    })
    const evict = (pod: Pod | undefined) =>
      api.post(`${api.core}/pods/${pod?.metadata.name}/eviction`, {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: pod?.metadata.name, namespace: api.namespace },
      })
    const isBlocked = async (pod: Pod | undefined) =>
      assert.match(await refused(429, evict(pod)), /"causes":\[\{"reason":"DisruptionBudget"/)
    const [first] = await readyPods(api, labels, 3)
    await isBlocked(first)
    await api.update<PodDisruptionBudget>(path, (it) => ({ ...it, spec: { ...it.spec, minAvailable: 2 } }))
    await objectWhen<PodDisruptionBudget>(api, path, 'allows a disruption', ({ metadata, status }) => {
      const { observedGeneration, currentHealthy, desiredHealthy } = status ?? {}
      return observedGeneration === metadata.generation && currentHealthy === 3 && desiredHealthy === 2
    })
    await evict(first)
    await api.patch(path, { spec: { minAvailable: null, maxUnavailable: 0 } })
    await eventually(api, 'the end of the evicted pod', async () => {
      const pods = await api.list<Pod>(`${api.core}/pods`)
      return pods.every(({ metadata }) => metadata.uid !== first?.metadata.uid)
    })
    const [second] = await readyPods(api, labels, 3)
    await isBlocked(second)
    await api.delete(path)
    await api.gone(path)
    await readyPods(api, labels, 3)
    await evict(second)
  })
}
