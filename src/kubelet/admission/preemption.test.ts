import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../pod-types.ts'
import { podsToPreempt } from './preemption.ts'

type Requests = Readonly<Record<string, string>>

const podOf = (
  name: string,
  requests: Requests,
  { priority = 0, limits }: { priority?: number; limits?: Requests } = {},
) =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid: name },
    spec: { priority, containers: [{ name: 'c', resources: { requests, ...(limits && { limits }) } }] },
  }) as Pod

const critical = podOf('critical', { cpu: '1' }, { priority: 2_000_000_000 })
const shortage = (resource: string, amount: bigint) => ({ resource, requested: amount, used: 0n, capacity: 0n })
const names = (pods: readonly Pod[]): string[] => pods.map(({ metadata }) => metadata.name ?? '')

for (const [what, others, needs, expected] of [
  [
    'the one pod that is just large enough',
    [podOf('small', { cpu: '100m' }), podOf('fits', { cpu: '500m' }), podOf('large', { cpu: '2' })],
    [shortage('cpu', 500n)],
    ['fits'],
  ],
  [
    'few large pods instead of many small ones',
    [podOf('a', { cpu: '100m' }), podOf('b', { cpu: '400m' }), podOf('c', { cpu: '300m' })],
    [shortage('cpu', 600n)],
    ['b', 'c'],
  ],
  [
    'burstable pods before guaranteed ones',
    [
      podOf('guaranteed', { cpu: '1', memory: '1Gi' }, { limits: { cpu: '1', memory: '1Gi' } }),
      podOf('burstable', { cpu: '1' }),
    ],
    [shortage('cpu', 1000n)],
    ['burstable'],
  ],
  [
    'pods without requests for a free place',
    [podOf('burstable', { cpu: '1' }), podOf('best-effort', {})],
    [shortage('pods', 1n)],
    ['best-effort'],
  ],
  [
    'no pods of a critical priority',
    [podOf('other', { cpu: '1' }, { priority: 2_000_001_000 }), podOf('usual', { cpu: '1' })],
    [shortage('cpu', 1000n)],
    ['usual'],
  ],
] as const)
  test(`a critical pod preempts ${what}`, () => {
    assert.deepEqual(names(podsToPreempt(critical, others, needs)), expected)
  })

test('too few pods are an error that names what is missing', () => {
  assert.throws(() => podsToPreempt(critical, [podOf('a', { cpu: '300m' })], [shortage('cpu', 1000n)]), {
    message: 'no set of running pods found to reclaim resources: [(res: cpu, q: 700), ]',
  })
})
