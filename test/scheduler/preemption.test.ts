/** Upstream's conformance tests of preemption. The test acts as kubelet. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Pod } from '../../src/client/kinds.ts'
import { waitFor } from '../support/wait-for.ts'
import { type ScheduledPods, scheduledPods } from './scheduled-pods.ts'

const classes = '/apis/scheduling.k8s.io/v1/priorityclasses'

/** A cluster with priority classes, and nodes with these amounts of a resource. */
async function scarce(
  t: TestContext,
  nodes: Readonly<Record<string, string>> = { a: '5', b: '5' },
): Promise<ScheduledPods> {
  const pods = await scheduledPods(t)
  for (const [name, amount] of Object.entries(nodes))
    await pods.node(name, { allocatable: { 'scheduling.k8s.io/foo': amount } })
  for (const [name, value] of Object.entries({ low: 1, medium: 100, high: 1000 }))
    await pods.cluster.call('POST', classes, {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name },
      value,
    })
  return pods
}

const withRequests = (amount: string): Record<string, string> => ({ 'scheduling.k8s.io/foo': amount })

/** Ends a pod as its kubelet would; resolves with its DisruptionTarget condition. */
async function endPreempted(pods: ScheduledPods, name: string) {
  const going = await waitFor(`${name} to be deleted`, async () => {
    const pod = await pods.get(name)
    return pod.metadata.deletionTimestamp !== undefined && pod
  })
  await pods.delete(name)
  return (going.status?.conditions ?? []).find(({ type }: { type: string }) => type === 'DisruptionTarget')
}

test('[Conformance] validates basic preemption works', async (t) => {
  const pods = await scarce(t)
  await pods.create('low', { priorityClassName: 'low' }, withRequests('4'))
  const node = await pods.nodeOf('low')
  await pods.create('medium', { priorityClassName: 'medium' }, withRequests('4'))
  assert.notEqual(await pods.nodeOf('medium'), node)
  await pods.create('preemptor', { priorityClassName: 'high' }, withRequests('4'))
  const condition = await endPreempted(pods, 'low')
  assert.deepEqual(
    [condition?.status, condition?.reason, condition?.message],
    ['True', 'PreemptionByScheduler', 'default-scheduler: preempting to accommodate a higher priority pod'],
  )
  assert.equal(await pods.nodeOf('preemptor'), node)
  const medium: Pod = await pods.get('medium')
  assert.equal(medium.metadata.deletionTimestamp, undefined)
  const { uid } = (await pods.get('preemptor')).metadata
  assert.deepEqual(await pods.eventNotes('low', 'Preempted'), [`Preempted by pod ${uid} on node ${node}`])
})

test('[Conformance] validates pod disruption condition is added to the preempted pod', async (t) => {
  const pods = await scarce(t, { a: '5' })
  await pods.create('victim', { priorityClassName: 'low' }, withRequests('4'))
  await pods.nodeOf('victim')
  await pods.create('preemptor', { priorityClassName: 'high' }, withRequests('4'))
  const condition = await endPreempted(pods, 'victim')
  assert.deepEqual(
    [condition?.type, condition?.status, condition?.reason],
    ['DisruptionTarget', 'True', 'PreemptionByScheduler'],
  )
})

test('[Conformance] validates lower priority pod preemption by critical pod', async (t) => {
  const pods = await scarce(t)
  await pods.create('low', { priorityClassName: 'low' }, withRequests('4'))
  await pods.create('medium', { priorityClassName: 'medium' }, withRequests('4'))
  const node = await pods.nodeOf('low')
  await pods.nodeOf('medium')
  await pods.create('critical', { priorityClassName: 'system-cluster-critical' }, withRequests('4'))
  // The resources are reserved while the victim ends.
  await waitFor('a nominated node', async () => (await pods.get('critical')).status?.nominatedNodeName === node)
  await pods.create('usurper', { priorityClassName: 'medium' }, withRequests('4'))
  await pods.unschedulableMessage('usurper')
  await endPreempted(pods, 'low')
  assert.equal(await pods.nodeOf('critical'), node)
  assert.equal((await pods.get('critical')).status?.nominatedNodeName, undefined)
  assert.equal((await pods.get('usurper')).spec?.nodeName, undefined)
})

test('[Conformance] runs ReplicaSets to verify preemption running path', async (t) => {
  const pods = await scarce(t, { a: '10' })
  // The most important pod comes last, and only the least important ones can make room for it.
  const sets: readonly [string, string, number, string][] = [
    ['one', 'low', 4, '1'],
    ['two', 'medium', 2, '1'],
    ['three', 'medium', 1, '4'],
  ]
  for (const [name, priorityClassName, count, amount] of sets)
    for (let at = 0; at < count; at++) await pods.create(`${name}-${at}`, { priorityClassName }, withRequests(amount))
  for (const [name, , count] of sets) for (let at = 0; at < count; at++) await pods.nodeOf(`${name}-${at}`)
  await pods.create('four', { priorityClassName: 'high' }, withRequests('3'))
  const ended = new Set<string>()
  await waitFor('pod four to get a node', async () => {
    for (const name of ['one-0', 'one-1', 'one-2', 'one-3', 'two-0', 'two-1', 'three-0']) {
      if (ended.has(name) || (await pods.get(name)).metadata.deletionTimestamp === undefined) continue
      ended.add(name)
      await pods.delete(name)
    }
    return (await pods.get('four')).spec?.nodeName !== undefined
  })
  assert.ok(ended.size > 0 && [...ended].every((name) => name.startsWith('one')), [...ended].join())
})

test('[Conformance] verify PriorityClass endpoints can be operated with different HTTP methods', async (t) => {
  const { cluster } = await scarce(t)
  const path = `${classes}/high`
  const patched = await cluster.call('PATCH', path, { description: 'important' }, 'application/merge-patch+json')
  assert.equal((patched as { description?: string }).description, 'important')
  const read = await cluster.call('GET', path)
  await cluster.call('PUT', path, { ...read, description: 'more important' })
  await assert.rejects(
    cluster.call('PATCH', path, { value: 5 }, 'application/merge-patch+json'),
    /may not be changed in an update|immutable|Forbidden/,
  )
  const { items } = (await cluster.call('GET', classes)) as unknown as { items: { metadata: { name: string } }[] }
  assert.ok(['low', 'medium', 'high'].every((name) => items.some(({ metadata }) => metadata.name === name)))
})
