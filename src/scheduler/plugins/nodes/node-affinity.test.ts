import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../../client/kinds.ts'
import { aNode, aPod } from '../../testing/objects.fixture.ts'
import { mayHelp } from '../../testing/try-hint.fixture.ts'
import { filterWith, scoreWith } from '../../testing/try-plugin.fixture.ts'
import { nodeAffinity } from './node-affinity.ts'

type PodSpec = NonNullable<Pod['spec']>
type Affinity = NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']>
type Term = NonNullable<Affinity['requiredDuringSchedulingIgnoredDuringExecution']>['nodeSelectorTerms'][number]

const expression = (key: string, operator: string, ...values: string[]): Term => ({
  matchExpressions: [{ key, operator, values }],
})
const named = (...names: string[]): Term => ({ matchFields: [{ key: 'metadata.name', operator: 'In', values: names }] })
const required = (...nodeSelectorTerms: Term[]): Affinity => ({
  requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
})
const preferred = (...terms: [number, Term][]): Affinity => ({
  preferredDuringSchedulingIgnoredDuringExecution: terms.map(([weight, preference]) => ({ weight, preference })),
})
const to = (nodeAffinity: Affinity): Partial<PodSpec> => ({ affinity: { nodeAffinity } })

const nodes = [aNode('a', { labels: { zone: 'x', cores: '8' } }), aNode('b', { labels: { zone: 'y' } })]
const not = "node(s) didn't match Pod's node affinity/selector"
const notAsked = 'not among the nodes of PreFilter'
const enforced = "node(s) didn't match scheduler-enforced node affinity"

test('pods fit where their node selector and affinity match', () => {
  const both = [{ ...named('a'), ...expression('zone', 'In', 'y') }]
  const cases: [string, Partial<PodSpec>, string, string][] = [
    ['nothing said', {}, '', ''],
    ['a selector', { nodeSelector: { zone: 'x' } }, '', not],
    ['a selector of two labels', { nodeSelector: { zone: 'x', disk: 'ssd' } }, not, not],
    ['In', to(required(expression('zone', 'In', 'x', 'z'))), '', not],
    ['NotIn', to(required(expression('zone', 'NotIn', 'x'))), not, ''],
    ['Exists', to(required(expression('cores', 'Exists'))), '', not],
    ['DoesNotExist', to(required(expression('cores', 'DoesNotExist'))), not, ''],
    ['Gt', to(required(expression('cores', 'Gt', '4'))), '', not],
    ['Lt', to(required(expression('cores', 'Lt', '4'))), not, not],
    ['one of two terms', to(required(expression('cores', 'Exists'), expression('zone', 'In', 'y'))), '', ''],
    ['no terms', to(required()), not, not],
    ['an empty term', to(required({})), not, not],
    [
      'selector and affinity',
      { nodeSelector: { zone: 'x' }, ...to(required(expression('zone', 'In', 'y'))) },
      not,
      not,
    ],
    ['a name', to(required(named('a'))), '', notAsked],
    ['two names', to(required(named('a'), named('b'))), '', ''],
    ['a name and a label', to(required(...both)), not, notAsked],
    ['a name in one term only', to(required(named('a'), expression('zone', 'In', 'y'))), '', ''],
    [
      'contradicting names',
      to(required({ matchFields: [...named('a').matchFields!, ...named('b').matchFields!] })),
      'pod affinity terms conflict',
      'pod affinity terms conflict',
    ],
    ['a preference is not required', to(preferred([1, expression('zone', 'In', 'z')])), '', ''],
  ]
  for (const [title, spec, a, b] of cases)
    assert.deepEqual(filterWith(nodeAffinity, aPod('p', spec), { nodes }), { a, b }, title)
})

test('a profile can add node affinity to all of its pods', () => {
  const args = { addedAffinity: required(expression('zone', 'In', 'x')) as Record<string, unknown> }
  assert.deepEqual(filterWith(nodeAffinity, aPod('p'), { nodes, args }), { a: '', b: enforced })
  assert.deepEqual(filterWith(nodeAffinity, aPod('p', { nodeSelector: { zone: 'y' } }), { nodes, args }), {
    a: not,
    b: enforced,
  })
  const scores = scoreWith(nodeAffinity, aPod('p'), {
    nodes,
    args: { addedAffinity: preferred([5, expression('zone', 'In', 'y')]) as Record<string, unknown> },
  })
  assert.deepEqual(scores, { a: 0, b: 100 })
})

test('preferences add up to scores', () => {
  const cases: [string, Partial<PodSpec>, Record<string, number>][] = [
    ['none', {}, {}],
    ['one', to(preferred([10, expression('zone', 'In', 'x')])), { a: 100, b: 0 }],
    ['two', to(preferred([30, expression('zone', 'In', 'x')], [10, expression('zone', 'Exists')])), { a: 100, b: 25 }],
    ['one that no node matches', to(preferred([10, expression('zone', 'In', 'z')])), { a: 0, b: 0 }],
    ['an empty one', to(preferred([10, {}], [1, expression('cores', 'Exists')])), { a: 100, b: 0 }],
  ]
  for (const [title, spec, expected] of cases)
    assert.deepEqual(scoreWith(nodeAffinity, aPod('p', spec), { nodes }), expected, title)
})

test('hints: a node that begins to match may help', () => {
  const pod = aPod('p', { nodeSelector: { zone: 'x' } })
  const [a, b] = nodes
  assert.equal(mayHelp(nodeAffinity, pod, { resource: 'Node', action: 'Add', after: a! }), true)
  assert.equal(mayHelp(nodeAffinity, pod, { resource: 'Node', action: 'Add', after: b! }), false)
  assert.equal(mayHelp(nodeAffinity, pod, { resource: 'Node', action: 'UpdateLabel', before: b!, after: a! }), true)
  assert.equal(mayHelp(nodeAffinity, pod, { resource: 'Node', action: 'UpdateLabel', before: a!, after: a! }), false)
  assert.equal(mayHelp(nodeAffinity, pod, { resource: 'Node', action: 'UpdateTaint', before: b!, after: a! }), false)
  const args = { addedAffinity: required(expression('zone', 'In', 'y')) as Record<string, unknown> }
  assert.equal(mayHelp(nodeAffinity, aPod('p'), { resource: 'Node', action: 'Add', after: a! }, { args }), false)
  assert.equal(
    mayHelp(nodeAffinity, aPod('p'), { resource: 'Node', action: 'UpdateLabel', before: a!, after: b! }, { args }),
    true,
  )
})

test('an invalid addedAffinity is rejected', () => {
  const faults = nodeAffinity.args?.validate?.(
    { addedAffinity: { ...required(expression('zone', 'Like')), ...preferred([1, expression('zone', 'In')]) } },
    'args',
  )
  assert.deepEqual(
    faults?.map(({ field }) => field),
    [
      'args.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0]' +
        '.operator',
      'args.addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].values',
    ],
  )
})
