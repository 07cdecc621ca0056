import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../pod-types.ts'
import { activeMsLeft } from './active-deadline.ts'

const podOf = (activeDeadlineSeconds: number | undefined, startTime: string | undefined): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {},
  spec: { containers: [], activeDeadlineSeconds },
  status: { startTime },
})

test('a pod is active from its start to its deadline', () => {
  const start = '2026-01-01T00:00:00Z'
  const at = (seconds: number): number => Date.parse(start) + seconds * 1000
  assert.equal(activeMsLeft(podOf(5, start), at(2)), 3000)
  assert.equal(activeMsLeft(podOf(5, start), at(5)), 0)
  assert.equal(activeMsLeft(podOf(undefined, start), at(5)), undefined)
  assert.equal(activeMsLeft(podOf(5, undefined), at(5)), undefined)
})
