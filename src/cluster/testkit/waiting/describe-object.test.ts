import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeObject } from './describe-object.ts'

const event = (second: number, message: string, count?: number) => ({
  metadata: {},
  type: 'Warning',
  reason: 'Failed',
  message,
  count,
  lastTimestamp: `2026-01-01T00:00:0${second}Z`,
  involvedObject: { kind: 'Pod', name: 'web-1' },
})

test('an object is described by its deletion, phase, conditions and newest events', () => {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', resourceVersion: '7', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x/y'] },
    status: {
      phase: 'Pending',
      reason: 'Full',
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/0 nodes' }],
    },
  }
  const events = [8, 1, 2, 3, 4, 5, 6].map((second) => event(second, `at ${second}\nnext`, second))
  assert.deepEqual(describeObject(pod, events).slice(0, 6), [
    '  resourceVersion: 7',
    '  being deleted since 2026-01-01T00:00:00Z, waits for finalizers x/y',
    '  phase: Pending (Full)',
    '  conditions:',
    '    PodScheduled=False (Unschedulable: 0/0 nodes)',
    '  last events:',
  ])
  const shown = describeObject(pod, events).slice(6)
  assert.equal(shown.length, 6)
  assert.equal(shown[0], '    2026-01-01T00:00:02Z Warning Failed Pod/web-1: at 2 next (2 times)')
  assert.equal(shown[5], '    2026-01-01T00:00:08Z Warning Failed Pod/web-1: at 8 next (8 times)')
  assert.deepEqual(describeObject(undefined, []), ['  it does not exist', '  no events'])
})
