import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../../../client/kinds.ts'
import { ProxyHealth } from './proxy-health.ts'

const node = (rest: Partial<Node['metadata']> = {}, taint?: string): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'here', ...rest },
  spec: { taints: taint ? [{ key: taint, effect: 'NoSchedule' }] : [] },
})

test('a change that waits for the time-out makes the process unhealthy until it is in effect', () => {
  const state = { now: 1000 }
  const health = new ProxyHealth(60_000, () => state.now)
  assert.deepEqual(health.state, { isHealthy: true, updatedAt: 0 })
  health.updated(4)
  health.queued(4)
  state.now += 30_000
  health.queued(4)
  health.updated(6)
  state.now += 30_000
  assert.deepEqual(health.state, { isHealthy: false, updatedAt: 1000 })
  health.updated(4)
  assert.deepEqual(health.state, { isHealthy: true, updatedAt: 61_000 })
})

test('a node that is deleted, or about to be, is not eligible', () => {
  const health = new ProxyHealth(60_000, () => 0)
  const eligible = (one: Node | undefined): boolean => {
    health.setNode(one)
    return health.isNodeEligible
  }
  assert(eligible(undefined))
  assert(eligible(node({}, 'other')))
  assert(!eligible(node({}, 'ToBeDeletedByClusterAutoscaler')))
  assert(!eligible(node({ deletionTimestamp: '2026-01-01T00:00:00Z' })))
  assert(eligible(node()))
})
