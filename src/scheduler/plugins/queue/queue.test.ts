import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PodInfo, type QueuedPod } from '../../framework/index.ts'
import { aPod } from '../../testing/objects.fixture.ts'
import { makePlugin } from '../../testing/try-plugin.fixture.ts'
import { prioritySort } from './priority-sort.ts'
import { schedulingGates } from './scheduling-gates.ts'

const empty = { nodes: [] }

test('pods are sorted by priority, then by waiting time', () => {
  const queued = (priority: number | undefined, queuedAt: number): QueuedPod => ({
    pod: new PodInfo(aPod('p', { priority })),
    queuedAt,
    attempts: 0,
  })
  const cases: [QueuedPod, QueuedPod, boolean][] = [
    [queued(10, 5), queued(1, 0), true],
    [queued(1, 0), queued(10, 5), false],
    [queued(1, 0), queued(1, 5), true],
    [queued(1, 5), queued(1, 0), false],
    [queued(1, 5), queued(1, 5), false],
    [queued(undefined, 9), queued(-1, 0), true],
  ]
  const { less } = makePlugin(prioritySort, empty)
  for (const [a, b, expected] of cases)
    assert.equal(less?.(a, b), expected, `${a.pod.priority} since ${a.queuedAt}, ${b.pod.priority} since ${b.queuedAt}`)
})

test('a pod with gates is not queued', () => {
  const { preEnqueue } = makePlugin(schedulingGates, empty)
  const cases: [string[] | undefined, string | undefined][] = [
    [undefined, undefined],
    [[], undefined],
    [['a'], 'waiting for scheduling gates: [a]'],
    [['a', 'example.com/b'], 'waiting for scheduling gates: [a example.com/b]'],
  ]
  for (const [gates, expected] of cases) {
    const status = preEnqueue?.(new PodInfo(aPod('p', { schedulingGates: gates?.map((name) => ({ name })) })))
    assert.equal(status?.reasons[0], expected)
    if (expected) assert.equal(status?.code, 'UnschedulableAndUnresolvable')
  }
})
