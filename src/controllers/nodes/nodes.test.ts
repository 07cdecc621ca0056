import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lease, Node, Pod } from '../../client/kinds.ts'
import { parseCidr } from '../../lib/cidr.ts'
import { FlagValues } from '../flags.ts'
import { addressFlags, clusterRanges } from './addresses/flags.ts'
import { NodeRanges } from './addresses/ranges.ts'
import { isSilent, observedHealth, silentConditions } from './lifecycle/health.ts'
import { olderLabels } from './lifecycle/labels.ts'
import { NodeMonitor } from './lifecycle/node-monitor.ts'
import { withConditionTaints, withEviction, withoutEviction } from './lifecycle/taints.ts'
import { EvictionQueue, evictionRate, zoneOf, zoneState } from './lifecycle/zones.ts'
import { isOnLostNode, isUnscheduledAndDeleted, surplusEndedPods } from './pod-garbage/garbage-pods.ts'
import { toleratedSeconds } from './taint-eviction/tolerance.ts'
import { nextStep, secondsOf } from './time-to-live.ts'

const second = 1000
const created = '2026-01-01T00:00:00Z'
const start = Date.parse(created)
const grace = { monitor: 50 * second, startup: 60 * second }
const rates = { normal: 0.1, secondary: 0.01, unhealthyShare: 0.55, largeSize: 50 }

type Condition = NonNullable<NonNullable<Node['status']>['conditions']>[number]
const ready = (status = 'True', lastHeartbeatTime = created): Condition => ({
  type: 'Ready',
  status,
  lastHeartbeatTime,
})

const node = (
  name: string,
  more: { conditions?: Condition[]; spec?: Node['spec']; labels?: Record<string, string> } = {},
): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid: `uid-${name}`, creationTimestamp: created, labels: more.labels },
  spec: more.spec,
  status: { conditions: more.conditions },
})

const lease = (renewTime: string): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'n' },
  spec: { renewTime } as Lease['spec'],
})

const keysOf = (taints: { key: string; effect: string }[] | undefined) =>
  taints?.map(({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`)

test('a node is silent if its status and lease have not changed for the grace period', () => {
  const reporting = node('n', { conditions: [ready()] })
  const first = observedHealth(reporting, undefined, undefined, start)
  assert.equal(isSilent(first, grace, start + 50 * second), false)
  assert.equal(isSilent(first, grace, start + 51 * second), true)
  const beat = observedHealth(
    node('n', { conditions: [ready('True', '2026-01-01T00:00:40Z')] }),
    undefined,
    first,
    start + 40 * second,
  )
  assert.equal(isSilent(beat, grace, start + 90 * second), false)
  const renewed = observedHealth(reporting, lease('2026-01-01T00:00:30.000000Z'), first, start + 45 * second)
  assert.equal(isSilent(renewed, grace, start + 95 * second), false)
  const again = observedHealth(reporting, lease('2026-01-01T00:00:30.000000Z'), renewed, start + 90 * second)
  assert.equal(isSilent(again, grace, start + 96 * second), true)
})

test('a node without a status has the startup grace period from its creation', () => {
  const health = observedHealth(node('n'), undefined, undefined, start + 30 * second)
  assert.equal(isSilent(health, grace, start + 60 * second), false)
  assert.equal(isSilent(health, grace, start + 61 * second), true)
})

test('the conditions of a silent node become Unknown, and missing ones are added', () => {
  const network = { type: 'NetworkUnavailable', status: 'False' }
  const conditions = silentConditions(node('n', { conditions: [ready(), network] }), start + 60 * second)
  assert.deepEqual(
    conditions?.map(({ type, status, reason }) => [type, status, reason]),
    [
      ['Ready', 'Unknown', 'NodeStatusUnknown'],
      ['NetworkUnavailable', 'False', undefined],
      ['MemoryPressure', 'Unknown', 'NodeStatusNeverUpdated'],
      ['DiskPressure', 'Unknown', 'NodeStatusNeverUpdated'],
      ['PIDPressure', 'Unknown', 'NodeStatusNeverUpdated'],
    ],
  )
  assert.equal(conditions?.[0]?.message, 'Kubelet stopped posting node status.')
  assert.equal(conditions?.[2]?.message, 'Kubelet never posted node status.')
  assert.equal(conditions?.[2]?.lastHeartbeatTime, created)
  assert.equal(silentConditions(node('n', { conditions: [ready('Unknown')] }), start), undefined)
})

test('NoSchedule taints are derived from conditions', () => {
  const pressed = node('n', {
    conditions: [ready('False'), { type: 'DiskPressure', status: 'True' }, { type: 'MemoryPressure', status: 'False' }],
    spec: {
      unschedulable: true,
      taints: [
        { key: 'mine', effect: 'NoSchedule' },
        { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' },
      ],
    },
  })
  assert.deepEqual(keysOf(withConditionTaints(pressed, start)), [
    'mine:NoSchedule',
    'not-ready:NoSchedule',
    'disk-pressure:NoSchedule',
    'unschedulable:NoSchedule',
  ])
  assert.equal(withConditionTaints(node('n', { conditions: [ready()] }), start), undefined)
})

test('the NoExecute taint is not-ready or unreachable, never both', () => {
  const unreachable = withEviction(node('n', { conditions: [ready('Unknown')] }), start)
  assert.deepEqual(unreachable, [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute', timeAdded: created }])
  const failed = node('n', { conditions: [ready('False')], spec: { taints: unreachable } })
  assert.deepEqual(keysOf(withEviction(failed, start)), ['not-ready:NoExecute'])
  assert.equal(withEviction(node('n', { conditions: [ready()] }), start), undefined)
  assert.deepEqual(withoutEviction(failed), [])
  assert.equal(withoutEviction(node('n')), undefined)
})

test('zone states: full disruption without ready nodes, partial from 3 nodes and the threshold', () => {
  const cases: [number, number, string][] = [
    [0, 1, 'FullDisruption'],
    [1, 2, 'Normal'],
    [2, 3, 'PartialDisruption'],
    [5, 3, 'Normal'],
    [1, 0, 'Normal'],
  ]
  for (const [up, down, state] of cases) assert.equal(zoneState(up, down, rates), state, `${up} ready, ${down} not`)
  assert.equal(evictionRate('PartialDisruption', 51, rates), 0.01)
  assert.equal(evictionRate('PartialDisruption', 50, rates), 0)
  assert.equal(evictionRate('FullDisruption', 50, rates), 0.1)
  assert.equal(zoneOf(node('n', { labels: { 'topology.kubernetes.io/zone': 'a' } })), ':\0:a')
  assert.equal(zoneOf(node('n')), '')
})

test('EvictionQueue releases nodes at the rate of the zone', () => {
  const queue = new EvictionQueue(0.1)
  for (const name of ['a', 'b', 'c']) queue.add(name)
  assert.equal(queue.take(start), 'a')
  assert.equal(queue.take(start), undefined)
  assert.equal(queue.nextInMs(start + 4 * second), 6 * second)
  queue.remove('b')
  assert.equal(queue.take(start + 10 * second), 'c')
  assert.equal(queue.nextInMs(start), undefined)
})

test('when all zones fail, evictions stop until one recovers', () => {
  const watch = new NodeMonitor(grace, rates)
  const up = [node('a', { conditions: [ready()] }), node('b', { conditions: [ready()] })]
  const down = up.map(({ metadata }) => node(metadata.name ?? '', { conditions: [ready('Unknown')] }))
  watch.classify(up)
  for (const one of up) watch.isSilent(one, undefined, start)
  assert.equal(watch.updateZones(up, start), false)
  assert.equal(watch.updateZones(down, start), true)
  watch.queueOf(down[0]!).add('a')
  assert.equal(watch.queueOf(down[0]!).take(start), undefined)
  assert.equal(watch.updateZones(down, start), false, 'returns true once')
  const later = start + 3600 * second
  assert.equal(watch.updateZones([up[0]!, down[1]!], later), false)
  assert.equal(watch.queueOf(down[0]!).take(later), 'a')
  assert.equal(watch.isSilent(up[1]!, undefined, later + 50 * second), false, 'all nodes get a new grace period')
})

test('classify returns added and removed nodes once', () => {
  const watch = new NodeMonitor(grace, rates)
  assert.deepEqual(watch.classify([node('a')]).added.length, 1)
  assert.deepEqual(watch.classify([node('a')]).added.length, 0)
  assert.deepEqual(watch.classify([]).removed, [{ name: 'a', uid: 'uid-a' }])
})

test('beta labels are copied from the current labels', () => {
  assert.deepEqual(
    olderLabels(
      node('n', {
        labels: { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'arm64', 'beta.kubernetes.io/arch': 'x' },
      }),
    ),
    {
      'beta.kubernetes.io/os': 'linux',
      'beta.kubernetes.io/arch': 'arm64',
    },
  )
  assert.equal(olderLabels(node('n', { labels: { 'beta.kubernetes.io/os': 'linux' } })), undefined)
})

type Toleration = NonNullable<NonNullable<Pod['spec']>['tolerations']>[number]
const pod = (
  more: {
    tolerations?: Toleration[]
    nodeName?: string
    deleted?: boolean
    name?: string
    reason?: string
    created?: string
  } = {},
): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: more.name ?? 'p',
    creationTimestamp: more.created ?? created,
    ...(more.deleted && { deletionTimestamp: created }),
  },
  spec: { containers: [], nodeName: more.nodeName, tolerations: more.tolerations },
  status: { reason: more.reason },
})

test('toleratedSeconds is the minimum over all NoExecute taints', () => {
  const down = { key: 'down', effect: 'NoExecute' }
  const slow = { key: 'slow', value: 'very', effect: 'NoExecute' }
  const cases: [Toleration[], { key: string; value?: string; effect: string }[], number][] = [
    [[], [], Infinity],
    [[], [{ key: 'k', effect: 'NoSchedule' }], Infinity],
    [[], [down], 0],
    [[{ operator: 'Exists' }], [down, slow], Infinity],
    [[{ key: 'down', operator: 'Exists', tolerationSeconds: 300 }], [down], 300],
    [[{ key: 'down', operator: 'Exists', tolerationSeconds: 300 }], [down, slow], 0],
    [
      [
        { operator: 'Exists', tolerationSeconds: 30 },
        { key: 'slow', value: 'very' },
      ],
      [slow],
      30,
    ],
    [[{ key: 'slow', value: 'not' }], [slow], 0],
    [[{ key: 'down', operator: 'Exists', tolerationSeconds: -1 }], [down], 0],
    [[{ key: 'down', operator: 'Exists', effect: 'NoSchedule' }], [down], 0],
  ]
  for (const [tolerations, taints, seconds] of cases)
    assert.equal(toleratedSeconds(pod({ tolerations }), taints), seconds, JSON.stringify([tolerations, taints]))
})

test('surplus ended pods are evicted ones first, then the oldest', () => {
  const ended = [
    pod({ name: 'new', created: '2026-01-03T00:00:00Z' }),
    pod({ name: 'old' }),
    pod({ name: 'evicted', reason: 'Evicted', created: '2026-01-02T00:00:00Z' }),
  ]
  assert.deepEqual(
    surplusEndedPods(ended, 1).map(({ metadata }) => metadata.name),
    ['evicted', 'old'],
  )
  assert.deepEqual(surplusEndedPods(ended, 3), [])
})

test('deleted pods without a node or on an out-of-service node are garbage', () => {
  const lost = node('n', {
    conditions: [ready('Unknown')],
    spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] },
  })
  assert.equal(isUnscheduledAndDeleted(pod({ deleted: true })), true)
  assert.equal(isUnscheduledAndDeleted(pod()), false)
  assert.equal(isUnscheduledAndDeleted(pod({ deleted: true, nodeName: 'n' })), false)
  assert.equal(isOnLostNode(pod({ deleted: true, nodeName: 'n' }), lost), true)
  assert.equal(isOnLostNode(pod({ nodeName: 'n' }), lost), false)
  assert.equal(
    isOnLostNode(pod({ deleted: true, nodeName: 'n' }), node('n', { conditions: [ready()], spec: lost.spec })),
    false,
  )
})

test('the cache TTL of kubelets grows with the cluster and shrinks with hysteresis', () => {
  assert.equal(secondsOf(nextStep(0, 100)), 0)
  assert.equal(secondsOf(nextStep(0, 101)), 15)
  assert.equal(secondsOf(nextStep(1, 90)), 15)
  assert.equal(secondsOf(nextStep(1, 89)), 0)
  assert.equal(secondsOf(nextStep(0, 5000)), 300)
})

test('nodes get the subranges in turn, including released ones', () => {
  const ranges = new NodeRanges(parseCidr('10.244.0.0/22')!, 24)
  ranges.take(parseCidr('10.244.1.0/24')!)
  ranges.take(parseCidr('192.168.0.0/16')!)
  assert.deepEqual(
    [ranges.takeNext(), ranges.takeNext(), ranges.takeNext(), ranges.takeNext()],
    ['10.244.0.0/24', '10.244.2.0/24', '10.244.3.0/24', undefined],
  )
  ranges.release(parseCidr('10.244.2.0/24')!)
  assert.equal(ranges.takeNext(), '10.244.2.0/24')
  assert.equal(new NodeRanges(parseCidr('fd00::/48')!, 64).takeNext(), 'fd00::/64')
  assert.throws(() => new NodeRanges(parseCidr('10.0.0.0/24')!, 16), /choose a longer mask/)
  assert.throws(() => new NodeRanges(parseCidr('fd00::/32')!, 64), /16 bits/)
})

test('the flags of address ranges are validated together', () => {
  const ranges = (given: Record<string, string>) => clusterRanges(new FlagValues(addressFlags, given))
  assert.deepEqual(ranges({ 'cluster-cidr': '10.0.0.0/8' }), [])
  assert.throws(() => ranges({ 'allocate-node-cidrs': 'true' }), /needs --cluster-cidr/)
  assert.throws(() => ranges({ 'allocate-node-cidrs': 'true', 'cluster-cidr': '10/8' }), /not an address range/)
  const both = ranges({
    'allocate-node-cidrs': 'true',
    'cluster-cidr': '10.244.0.0/16,fd00::/56',
    'node-cidr-mask-size-ipv4': '25',
  })
  assert.deepEqual(
    both.map(({ nodePrefix }) => nodePrefix),
    [25, 64],
  )
})
