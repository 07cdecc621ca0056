import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../client/kinds.ts'
import { availableInMs, isActive, isTerminating } from './phase.ts'

const readyAt = Date.parse('2026-01-01T00:00:00Z')
const pod = (
  phase: string,
  ready = 'True',
  lastTransitionTime: string | undefined = '2026-01-01T00:00:00Z',
  deletionTimestamp?: string,
): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', ...(deletionTimestamp && { deletionTimestamp }) },
  status: { phase, conditions: [{ type: 'Ready', status: ready, ...(lastTransitionTime && { lastTransitionTime }) }] },
})

test('a pod is available when it has been ready for long enough', () => {
  const never = Number.POSITIVE_INFINITY
  assert.equal(availableInMs(pod('Running'), 0, readyAt), 0)
  assert.equal(availableInMs(pod('Running'), 10, readyAt + 4000), 6000)
  assert.equal(availableInMs(pod('Running'), 10, readyAt + 10_000), 0)
  assert.equal(availableInMs(pod('Running', 'False'), 0, readyAt), never)
  assert.equal(availableInMs(pod('Running', 'True', ''), 0, readyAt), 0)
  assert.equal(availableInMs(pod('Running', 'True', ''), 1, readyAt), never)
})

test('a pod is active unless it has ended or is being deleted', () => {
  const deleted = '2026-01-01T00:00:00Z'
  assert.deepEqual(
    ['Pending', 'Running', 'Unknown', 'Failed', 'Succeeded'].map((phase) => isActive(pod(phase))),
    [true, true, true, false, false],
  )
  assert.equal(isActive(pod('Running', 'True', undefined, deleted)), false)
  assert.equal(isTerminating(pod('Running', 'True', undefined, deleted)), true)
  assert.equal(isTerminating(pod('Failed', 'True', undefined, deleted)), false)
})
