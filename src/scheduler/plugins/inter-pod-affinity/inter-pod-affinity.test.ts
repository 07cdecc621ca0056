import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Namespace, Pod } from '../../../client/kinds.ts'
import { type NodeInfo, PodInfo } from '../../framework/index.ts'
import { aNode, aPod } from '../../testing/objects.fixture.ts'
import {
  filterWith,
  handleOf,
  makePlugin,
  scoreWith,
  snapshotOf,
  type TestCluster,
} from '../../testing/try-plugin.fixture.ts'
import type { Filtering } from './filtering.ts'
import { interPodAffinity } from './index.ts'

type Affinity = NonNullable<NonNullable<Pod['spec']>['affinity']>
type Term = NonNullable<NonNullable<Affinity['podAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']>[number]

const zone = 'topology.kubernetes.io/zone'
const hostname = 'kubernetes.io/hostname'
const app = (value: string, topologyKey = zone, more: Partial<Term> = {}): Term => ({
  topologyKey,
  labelSelector: { matchLabels: { app: value } },
  ...more,
})
const near = (...terms: Term[]): Affinity => ({
  podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms },
})
const far = (...terms: Term[]): Affinity => ({
  podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms },
})
const liked = (weight: number, term: Term): Affinity => ({
  podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight, podAffinityTerm: term }] },
})
const disliked = (weight: number, term: Term): Affinity => ({
  podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight, podAffinityTerm: term }] },
})

const nodes = [
  aNode('a1', { labels: { [zone]: 'a' } }),
  aNode('a2', { labels: { [zone]: 'a' } }),
  aNode('b1', { labels: { [zone]: 'b' } }),
  aNode('x'),
]
const pod = (
  name: string,
  labels: Record<string, string>,
  affinity?: Affinity,
  nodeName?: string,
  namespace = 'default',
): Pod => aPod(name, { affinity, nodeName }, { labels, namespace })
const namespace = (name: string, labels: Record<string, string>): Namespace => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
})

const short: Record<string, string> = {
  '': '',
  "node(s) didn't match pod affinity rules": 'affinity',
  "node(s) didn't match pod anti-affinity rules": 'anti',
  "node(s) didn't satisfy existing pods anti-affinity rules": 'existing',
}
const verdicts = (of: Pod, cluster: Omit<TestCluster, 'nodes'>): string =>
  Object.values(filterWith(interPodAffinity, of, { nodes, ...cluster }))
    .map((reason) => short[reason] ?? reason)
    .join(' ')

test('required affinity and anti-affinity allow the same nodes as upstream', () => {
  const web = pod('web', { app: 'web' }, undefined, 'a1')
  const inOther = pod('web', { app: 'web' }, undefined, 'b1', 'other')
  const namespaces = [namespace('default', {}), namespace('other', { team: 'x' })]
  const nowhere = 'affinity affinity affinity affinity'
  const cases: [string, Pod, Pod[], string][] = [
    ['no terms', pod('p', {}), [web], '   '],
    ['near a pod, in its zone', pod('p', {}, near(app('web'))), [web], '  affinity affinity'],
    ['near a pod, on its node', pod('p', {}, near(app('web', hostname))), [web], ' affinity affinity affinity'],
    ['near a pod that does not exist', pod('p', {}, near(app('web'))), [], nowhere],
    ['the first of its group', pod('p', { app: 'web' }, near(app('web'))), [], '   affinity'],
    ['not the first of its group', pod('p', { app: 'web' }, near(app('web'))), [web], '  affinity affinity'],
    [
      'terms matched by different pods',
      pod('p', {}, near(app('web'), app('db'))),
      [web, pod('db', { app: 'db' }, undefined, 'a1')],
      nowhere,
    ],
    [
      'two terms matched by one pod',
      pod('p', {}, near(app('web'), { topologyKey: hostname, labelSelector: { matchLabels: { tier: 'x' } } })),
      [pod('q', { app: 'web', tier: 'x' }, undefined, 'a2')],
      'affinity  affinity affinity',
    ],
    ['far from a pod, in its zone', pod('p', {}, far(app('web'))), [web], 'anti anti  '],
    ['far from a pod, on its node', pod('p', {}, far(app('web', hostname))), [web], 'anti   '],
    ['anti-affinity of an existing pod', pod('p', { app: 'p' }), [pod('q', {}, far(app('p')), 'b1')], '  existing '],
    [
      'anti-affinity of an existing pod against others',
      pod('p', { app: 'p' }),
      [pod('q', {}, far(app('r')), 'b1')],
      '   ',
    ],
    ['both', pod('p', { app: 'p' }, far(app('web'))), [web, pod('q', {}, far(app('p')), 'b1')], 'anti anti existing '],
    ['another namespace', pod('p', {}, near(app('web'))), [inOther], nowhere],
    [
      'another namespace by name',
      pod('p', {}, near(app('web', zone, { namespaces: ['other'] }))),
      [inOther],
      'affinity affinity  affinity',
    ],
    [
      'another namespace by labels',
      pod('p', {}, near(app('web', zone, { namespaceSelector: { matchLabels: { team: 'x' } } }))),
      [inOther],
      'affinity affinity  affinity',
    ],
    [
      'all namespaces',
      pod('p', {}, far(app('web', zone, { namespaceSelector: {} }))),
      [web, inOther],
      'anti anti anti ',
    ],
    [
      'all namespaces, one of which is not cached yet',
      pod('p', {}, far(app('web', zone, { namespaceSelector: {} }))),
      [pod('web', { app: 'web' }, undefined, 'b1', 'young')],
      '  anti ',
    ],
    [
      'anti-affinity of an existing pod against another namespace',
      pod('p', { app: 'p' }, undefined, undefined, 'other'),
      [pod('q', {}, far(app('p', zone, { namespaceSelector: { matchLabels: { team: 'x' } } })), 'b1')],
      '  existing ',
    ],
    ['a missing selector matches no pods', pod('p', {}, far({ topologyKey: zone })), [web], '   '],
  ]
  for (const [title, of, pods, expected] of cases)
    assert.equal(verdicts(of, { pods, objects: namespaces }), expected, title)
})

test('added and removed pods count immediately, on a copy of the state', () => {
  const cluster = { nodes, pods: [pod('web', { app: 'web' }, far(app('p')), 'a1')] }
  const snapshot = snapshotOf(cluster)
  const plugin = makePlugin(interPodAffinity, cluster, handleOf(cluster, snapshot))
  const info = new PodInfo(pod('p', { app: 'p' }, far(app('web'))))
  const [a1, , b1] = snapshot.nodes as [NodeInfo, NodeInfo, NodeInfo]
  const prepared = plugin.preFilter?.(info, snapshot) as { state: Filtering }
  const state = plugin.copyState?.(prepared.state) as Filtering
  const reason = (at: unknown, node: NodeInfo): string =>
    short[plugin.filter?.(at, info, node)?.reasons[0] ?? ''] ?? '?'
  assert.equal(reason(state, a1), 'anti')
  const [web] = a1.pods as [PodInfo]
  plugin.removePod?.(state, info, web, a1)
  assert.equal(reason(state, a1), '')
  plugin.addPod?.(state, info, web, b1)
  assert.equal(reason(state, b1), 'anti')
  assert.equal(reason(prepared.state, a1), 'anti')
  assert.equal(reason(prepared.state, b1), '')
})

test('counts of nodes are updated when their pods change', () => {
  const cluster = { nodes }
  const snapshot = snapshotOf(cluster)
  const plugin = makePlugin(interPodAffinity, cluster, handleOf(cluster, snapshot))
  const [a1] = snapshot.nodes as [NodeInfo]
  const info = new PodInfo(pod('p', { app: 'web' }, far(app('web', hostname))))
  const free = (): number => {
    const prepared = plugin.preFilter?.(info, snapshot) as { state: Filtering }
    return snapshot.nodes.filter((node) => !plugin.filter?.(prepared.state, info, node)).length
  }
  assert.equal(free(), 4)
  const web = new PodInfo(pod('web', { app: 'web' }, undefined, 'a1'))
  a1.addPod(web)
  assert.equal(free(), 3)
  a1.removePod(web)
  assert.equal(free(), 4)
})

test('preferences of the pod and of existing pods score domains', () => {
  const web = pod('web', { app: 'web' }, undefined, 'a1')
  const all = { a1: 100, a2: 100, b1: 0, x: 0 }
  const cases: [string, Pod, Pod[], Record<string, unknown>, Record<string, number>][] = [
    ['no terms', pod('p', {}), [web], {}, {}],
    ['affinity', pod('p', {}, liked(5, app('web'))), [web], {}, all],
    ['anti-affinity', pod('p', {}, disliked(5, app('web'))), [web], {}, { a1: 0, a2: 0, b1: 100, x: 100 }],
    ['affinity of an existing pod', pod('p', { app: 'p' }), [pod('q', {}, liked(5, app('p')), 'a1')], {}, all],
    [
      'anti-affinity of an existing pod',
      pod('p', { app: 'p' }),
      [pod('q', {}, disliked(5, app('p')), 'a1')],
      {},
      { a1: 0, a2: 0, b1: 100, x: 100 },
    ],
    ['required affinity of an existing pod', pod('p', { app: 'p' }), [pod('q', {}, near(app('p')), 'a1')], {}, all],
    [
      'required affinity with weight 0',
      pod('p', { app: 'p' }),
      [pod('q', {}, near(app('p')), 'a1')],
      { hardPodAffinityWeight: 0 },
      {},
    ],
    [
      'affinity of existing pods, ignored',
      pod('p', { app: 'p' }),
      [pod('q', {}, liked(5, app('p')), 'a1')],
      { ignorePreferredTermsOfExistingPods: true },
      {},
    ],
    [
      'mixed preferences',
      pod('p', {}, { ...liked(3, app('web')), ...disliked(1, app('db')) }),
      [web, pod('db', { app: 'db' }, undefined, 'a2'), pod('web2', { app: 'web' }, undefined, 'b1')],
      {},
      { a1: 66, a2: 66, b1: 100, x: 0 },
    ],
  ]
  for (const [title, of, pods, args, expected] of cases)
    assert.deepEqual(scoreWith(interPodAffinity, of, { nodes, pods, args }), expected, title)
})

test('hints: changes of pods, nodes and namespaces that terms match may help', () => {
  const plugin = makePlugin(interPodAffinity, { nodes })
  const hint = (resource: string, waits: Pod, before: unknown, after: unknown): boolean | undefined =>
    plugin.events
      ?.find((one) => one.resource === resource)
      ?.mayHelp?.(new PodInfo(waits), before as never, after as never)
  const web = pod('web', { app: 'web' }, undefined, 'a1')
  const other = pod('web', { app: 'other' }, undefined, 'a1')
  const cases: [string, boolean | undefined, boolean][] = [
    ...(
      [
        ['labels select a namespace now', undefined, { team: 'x' }, near, true],
        ['labels select a namespace no longer', { team: 'x' }, {}, far, true],
        ['other labels change', { team: 'x' }, { team: 'x', y: 'z' }, far, false],
      ] as const
    ).map(([title, was, is, towards, expected]): [string, boolean | undefined, boolean] => {
      const waits = pod('p', {}, towards(app('web', zone, { namespaceSelector: { matchLabels: { team: 'x' } } })))
      return [title, hint('Namespace', waits, was && namespace('other', was), namespace('other', is)), expected]
    }),
    [
      'the labels of its own namespace change',
      hint('Namespace', pod('p', {}), namespace('default', {}), namespace('default', { team: 'x' })),
      true,
    ],
    [
      'its own namespace changes without labels',
      hint('Namespace', pod('p', {}), namespace('default', {}), namespace('default', {})),
      false,
    ],
    ['a pod with affinity is added', hint('Pod', pod('p', {}, near(app('web'))), undefined, web), true],
    ['a pod with anti-affinity is added', hint('Pod', pod('p', {}, far(app('web'))), undefined, web), false],
    [
      'a pod without a node is added',
      hint('Pod', pod('p', {}, near(app('web'))), undefined, pod('q', { app: 'web' })),
      false,
    ],
    ['a pod with anti-affinity is deleted', hint('Pod', pod('p', {}, far(app('web'))), web, undefined), true],
    [
      'a pod with anti-affinity against it is deleted',
      hint('Pod', pod('p', { app: 'p' }), pod('q', {}, far(app('p')), 'a1'), undefined),
      true,
    ],
    ['labels begin to match', hint('Pod', pod('p', {}, near(app('web'))), other, web), true],
    ['labels do not match', hint('Pod', pod('p', {}, near(app('db'))), other, web), false],
    ['a node without topology labels', hint('Node', pod('p', {}, near(app('web'))), undefined, aNode('n')), false],
    ['a node with topology labels', hint('Node', pod('p', {}, near(app('web'))), undefined, nodes[0]), true],
    [
      'a node changes its zone',
      hint('Node', pod('p', {}, far(app('web'))), aNode('n'), aNode('n', { labels: { [zone]: 'a' } })),
      true,
    ],
    [
      'a node joins one domain of two',
      hint(
        'Node',
        pod('p', {}, near(app('web'), app('web', 'rack'))),
        aNode('n'),
        aNode('n', { labels: { [zone]: 'a' } }),
      ),
      true,
    ],
    [
      'a node without the required label leaves a domain',
      hint(
        'Node',
        pod('p', {}, { ...near(app('web')), ...far(app('db', 'rack')) }),
        aNode('n', { labels: { rack: 'r' } }),
        aNode('n'),
      ),
      true,
    ],
    [
      'a node without the required label changes',
      hint('Node', pod('p', {}, near(app('web'))), aNode('n'), aNode('n', { labels: { x: 'y' } })),
      false,
    ],
    [
      'other labels change, which terms of other pods may use',
      hint('Node', pod('p', {}, far(app('web'))), nodes[0], aNode('a1', { labels: { [zone]: 'a', x: 'y' } })),
      true,
    ],
  ]
  for (const [title, is, expected] of cases) assert.equal(is, expected, title)
})
