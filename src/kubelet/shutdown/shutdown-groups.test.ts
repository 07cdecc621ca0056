import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../pod-types.ts'
import { graceSecondsOf, shutdownGroups, shutdownPeriods } from './shutdown-groups.ts'

const none = {
  shutdownGracePeriod: '0s',
  shutdownGracePeriodCriticalPods: '0s',
  shutdownGracePeriodByPodPriority: [],
} as const

const podOf = (name: string, priority?: number, terminationGracePeriodSeconds?: number): Pod =>
  ({ metadata: { name }, spec: { priority, terminationGracePeriodSeconds, containers: [] } }) as unknown as Pod

test('the two grace periods become two groups', () => {
  assert.deepEqual(shutdownPeriods(none), [])
  const settings = { ...none, shutdownGracePeriod: '30s', shutdownGracePeriodCriticalPods: '10s' }
  assert.deepEqual(shutdownPeriods(settings), [
    { priority: 0, seconds: 20 },
    { priority: 2_000_000_000, seconds: 10 },
  ])
})

test('pods are in the group whose priority is the highest below theirs', () => {
  const settings = {
    ...none,
    shutdownGracePeriodByPodPriority: [
      { priority: 1000, shutdownGracePeriodSeconds: 5 },
      { priority: 10, shutdownGracePeriodSeconds: 9 },
      { priority: 500, shutdownGracePeriodSeconds: 7 },
    ],
  }
  const pods = [podOf('a', 2000), podOf('b', 10), podOf('c'), podOf('d', 999), podOf('e', 1000)]
  const groups = shutdownGroups(shutdownPeriods(settings), pods)
  assert.deepEqual(
    groups.map(({ priority, seconds, pods }) => [priority, seconds, pods.map(({ metadata }) => metadata.name).join()]),
    [
      [10, 9, 'b,c'],
      [500, 7, 'd'],
      [1000, 5, 'a,e'],
    ],
  )
})

test('a pod has the time of its group, or less if its own is shorter', () => {
  const period = { priority: 0, seconds: 20 }
  assert.deepEqual(
    [podOf('a', 0, 600), podOf('b', 0, 3), podOf('c')].map((pod) => graceSecondsOf(pod, period)),
    [20, 3, 20],
  )
})
