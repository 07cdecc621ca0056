import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../../client/kinds.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { type NodeInfo, PodInfo } from '../../framework/index.ts'
import { aNode, aPod } from '../../testing/objects.fixture.ts'
import { mayHelp } from '../../testing/try-hint.fixture.ts'
import {
  filterWith,
  handleOf,
  makePlugin,
  scoreWith,
  snapshotOf,
  type TestCluster,
} from '../../testing/try-plugin.fixture.ts'
import { podTopologySpread } from './index.ts'

type PodSpec = NonNullable<Pod['spec']>
type WireConstraint = NonNullable<PodSpec['topologySpreadConstraints']>[number]

const zone = 'topology.kubernetes.io/zone'
const hostname = 'kubernetes.io/hostname'
const nodes = [
  aNode('a1', { labels: { [zone]: 'a' } }),
  aNode('a2', { labels: { [zone]: 'a' } }),
  aNode('b1', { labels: { [zone]: 'b', disk: 'ssd' } }),
  aNode('b2', { labels: { [zone]: 'b' }, spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } }),
  aNode('x'),
]
const constraint = (topologyKey: string, more: Partial<WireConstraint> = {}): WireConstraint => ({
  maxSkew: 1,
  topologyKey,
  whenUnsatisfiable: 'DoNotSchedule',
  labelSelector: { matchLabels: { app: 'web' } },
  ...more,
})
/** A pod of the app. */
const web = (constraints: WireConstraint[], spec: Partial<PodSpec> = {}, labels: Record<string, string> = {}): Pod =>
  aPod('p', { topologySpreadConstraints: constraints, ...spec }, { labels: { app: 'web', ...labels } })
/** Pods of the app on these nodes. */
const on = (...names: string[]): Pod[] =>
  names.map((nodeName, at) => aPod(`q${at}`, { nodeName }, { labels: { app: 'web' } }))

const short: Record<string, string> = {
  '': 'ok',
  "node(s) didn't match pod topology spread constraints": 'skew',
  "node(s) didn't match pod topology spread constraints (missing required label)": 'label',
}
const verdicts = (of: Pod, pods: Pod[], args = {}, objects: KubeObject[] = []): string =>
  Object.values(filterWith(podTopologySpread, of, { nodes, pods, args, objects }))
    .map((reason) => short[reason] ?? reason)
    .join(' ')

test('DoNotSchedule constraints allow the same nodes as upstream', () => {
  const doomed = {
    ...aPod('old', { nodeName: 'a1' }, { labels: { app: 'web' }, deletionTimestamp: '2026-01-01T00:00:00Z' }),
  }
  const all = 'ok ok ok ok ok'
  const cases: [string, Pod, Pod[], string][] = [
    ['no constraints', web([]), on('a1'), all],
    ['only ScheduleAnyway', web([constraint(zone, { whenUnsatisfiable: 'ScheduleAnyway' })]), on('a1'), all],
    ['no pods', web([constraint(zone)]), [], 'ok ok ok ok label'],
    ['one pod', web([constraint(zone)]), on('a1'), 'skew skew ok ok label'],
    ['one terminating pod', web([constraint(zone)]), [doomed], 'ok ok ok ok label'],
    ['a skew of two', web([constraint(zone, { maxSkew: 2 })]), on('a1'), 'ok ok ok ok label'],
    ['balanced', web([constraint(zone)]), on('a1', 'b1'), 'ok ok ok ok label'],
    ['by node', web([constraint(hostname)]), on('a1', 'a1', 'a2', 'b1'), 'skew skew skew ok ok'],
    [
      'by zone and node',
      web([constraint(zone), constraint(hostname)]),
      on('a1', 'b1', 'b2'),
      'skew ok skew skew label',
    ],
    [
      'selects other pods',
      aPod('p', { topologySpreadConstraints: [constraint(zone)] }),
      on('a1', 'a1'),
      'skew skew ok ok label',
    ],
    [
      'selects other pods, balanced',
      aPod('p', { topologySpreadConstraints: [constraint(zone)] }),
      on('a1'),
      'ok ok ok ok label',
    ],
    [
      'fewer domains than minDomains',
      web([constraint(zone, { minDomains: 3 })]),
      on('a1', 'b1'),
      'skew skew skew skew label',
    ],
    ['as many domains as minDomains', web([constraint(zone, { minDomains: 2 })]), on('a1', 'b1'), 'ok ok ok ok label'],
    [
      'domains that the pod does not select are not counted',
      web([constraint(zone)], { nodeSelector: { disk: 'ssd' } }),
      on('b1'),
      'ok ok ok ok label',
    ],
    [
      'nodeAffinityPolicy Ignore',
      web([constraint(zone, { nodeAffinityPolicy: 'Ignore' })], { nodeSelector: { disk: 'ssd' } }),
      on('b1'),
      'ok ok skew skew label',
    ],
    ['taints are ignored', web([constraint(hostname)]), on('a1', 'a2', 'b1', 'x'), 'skew skew skew ok skew'],
    [
      'nodeTaintsPolicy Honor',
      web([constraint(hostname, { nodeTaintsPolicy: 'Honor' })]),
      on('a1', 'a2', 'b1', 'x'),
      'ok ok ok ok ok',
    ],
    [
      'matchLabelKeys',
      web([constraint(zone, { matchLabelKeys: ['rev', 'missing'] })], {}, { rev: '2' }),
      [...on('a1'), aPod('r', { nodeName: 'b1' }, { labels: { app: 'web', rev: '2' } })],
      'ok ok skew skew label',
    ],
    [
      'an empty selector counts no pods',
      web([constraint(zone, { labelSelector: {} })]),
      on('a1', 'a1', 'a1'),
      'ok ok ok ok label',
    ],
    [
      'another namespace',
      web([constraint(zone)]),
      [aPod('o', { nodeName: 'a1' }, { labels: { app: 'web' }, namespace: 'other' })],
      'ok ok ok ok label',
    ],
  ]
  for (const [title, of, pods, expected] of cases) assert.equal(verdicts(of, pods), expected, title)
})

test('default constraints apply to pods of a service or controller without their own', () => {
  const args = {
    defaultingType: 'List',
    defaultConstraints: [{ maxSkew: 1, topologyKey: zone, whenUnsatisfiable: 'DoNotSchedule' }],
  }
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name: 's' },
    spec: { selector: { app: 'web' } },
  }
  const set = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { namespace: 'default', name: 'rs' },
    spec: { selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['web'] }] } },
  }
  const owned = aPod(
    'p',
    {},
    {
      labels: { app: 'web' },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'u', controller: true }],
    },
  )
  assert.equal(verdicts(web([]), on('a1'), args), 'ok ok ok ok ok')
  assert.equal(verdicts(web([]), on('a1'), args, [service]), 'skew skew ok ok label')
  assert.equal(verdicts(owned, on('a1'), args, [set]), 'skew skew ok ok label')
  assert.equal(
    verdicts(web([constraint(hostname)]), on('a1', 'a2', 'b1', 'b2'), args, [service]),
    'skew skew skew skew ok',
  )
})

test('added and removed pods count immediately, on a copy of the state', () => {
  const cluster = { nodes, pods: on('a1', 'a1', 'b1') }
  const snapshot = snapshotOf(cluster)
  const plugin = makePlugin(podTopologySpread, cluster, handleOf(cluster, snapshot))
  const info = new PodInfo(web([constraint(zone)]))
  const [a1, , b1] = snapshot.nodes as [NodeInfo, NodeInfo, NodeInfo]
  const prepared = plugin.preFilter?.(info, snapshot) as { state: object }
  const copy = plugin.copyState?.(prepared.state)
  const fits = (state: unknown, node: NodeInfo): boolean => plugin.filter?.(state, info, node) === undefined
  assert.deepEqual([fits(copy, a1), fits(copy, b1)], [false, true])
  plugin.removePod?.(copy, info, a1.pods[0] as PodInfo, a1)
  assert.deepEqual([fits(copy, a1), fits(copy, b1)], [true, true])
  plugin.addPod?.(copy, info, a1.pods[0] as PodInfo, b1)
  assert.deepEqual([fits(copy, a1), fits(copy, b1)], [true, false])
  assert.deepEqual([fits(prepared.state, a1), fits(prepared.state, b1)], [false, true])
})

test('ScheduleAnyway constraints score even spreading', () => {
  const wish = (topologyKey: string, maxSkew = 1) =>
    constraint(topologyKey, { whenUnsatisfiable: 'ScheduleAnyway', maxSkew })
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name: 's' },
    spec: { selector: { app: 'web' } },
  }
  const cases: [string, Pod, Pod[], KubeObject[], Record<string, number>][] = [
    ['none', web([]), on('a1'), [], {}],
    ['no pods', web([wish(zone)]), [], [], { a1: 100, a2: 100, b1: 100, b2: 100, x: 0 }],
    // Two domains weigh ln 4: 2 pods score 3, 1 pod scores 1.
    ['by zone', web([wish(zone)]), on('a1', 'a2', 'b1'), [], { a1: 33, a2: 33, b1: 100, b2: 100, x: 0 }],
    // Five nodes weigh ln 7: 2 pods score 4, 1 pod scores 2.
    ['by node', web([wish(hostname)]), on('a1', 'a1', 'b1'), [], { a1: 0, a2: 100, b1: 50, b2: 100, x: 100 }],
    // Defaults: nodes weigh ln 7 and skew 3, zones (a, b and none) ln 5 and skew 5; the node without a zone counts.
    ['the defaults', web([]), on('a1', 'a1', 'b1'), [service], { a1: 15, a2: 46, b1: 38, b2: 53, x: 100 }],
  ]
  for (const [title, of, pods, objects, expected] of cases)
    assert.deepEqual(scoreWith(podTopologySpread, of, { nodes, pods, objects }), expected, title)
})

test('hints: label changes that affect spreading, and tolerations if taints are honored, may help', () => {
  const tolerant = { tolerations: [{ key: 'k', operator: 'Exists' }] }
  const helps = (
    action: 'UpdateLabel' | 'UpdateToleration',
    before: Pod,
    after: Pod,
    cluster: Pick<TestCluster, 'args' | 'objects'> = {},
  ): boolean => mayHelp(podTopologySpread, after, { resource: 'Pod', action, before, after }, cluster)
  const honors = [constraint(zone, { nodeTaintsPolicy: 'Honor' })]
  assert.equal(helps('UpdateToleration', web(honors), web(honors, tolerant)), true)
  assert.equal(helps('UpdateToleration', web([constraint(zone)]), web([constraint(zone)], tolerant)), false)
  assert.equal(helps('UpdateLabel', web([constraint(zone)], {}, { app: 'other' }), web([constraint(zone)])), true)
  assert.equal(helps('UpdateLabel', web(honors), web(honors, {}, { unrelated: '' })), false)
  const revisions = [constraint(zone, { matchLabelKeys: ['rev'] })]
  assert.equal(helps('UpdateLabel', web(revisions, {}, { rev: '1' }), web(revisions, {}, { rev: '2' })), true)
  // Without the label it is no longer a pod of the service, so it has no constraints.
  const args = {
    defaultingType: 'List',
    defaultConstraints: [{ maxSkew: 1, topologyKey: zone, whenUnsatisfiable: 'DoNotSchedule' }],
  }
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name: 's' },
    spec: { selector: { app: 'web' } },
  }
  assert.equal(helps('UpdateLabel', web([]), web([], {}, { app: 'other' }), { args, objects: [service] }), true)
  assert.equal(helps('UpdateLabel', web([]), web([], {}, { unrelated: '' }), { args, objects: [service] }), false)
})

test("arguments are validated with upstream's messages", () => {
  const faults = (args: object): string[] => {
    const kind = podTopologySpread.args
    return kind?.validate?.(kind.withDefaults(args), 'args').map(({ field, message }) => `${field}: ${message}`) ?? []
  }
  const fine = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' }
  assert.deepEqual(faults({}), [])
  assert.deepEqual(faults({ defaultingType: 'List', defaultConstraints: [fine] }), [])
  assert.deepEqual(faults({ defaultConstraints: [fine] }), [
    'args.defaultingType: Invalid value: "System": when .defaultConstraints are not empty',
  ])
  assert.deepEqual(
    faults({ defaultingType: 'List', defaultConstraints: [{ ...fine, maxSkew: 0, labelSelector: {} }] }),
    [
      'args.defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf)',
      'args.defaultConstraints[0].labelSelector: Forbidden: constraint must not define a selector, as they ' +
        'deduced for each pod',
    ],
  )
})
