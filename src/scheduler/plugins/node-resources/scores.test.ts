import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../../client/kinds.ts'
import type { FieldError } from '../../../machinery/validation/field-error.ts'
import type { PluginFactory } from '../../framework/index.ts'
import { aNode, aPod, withRequests } from '../../testing/objects.fixture.ts'
import { scoreWith } from '../../testing/try-plugin.fixture.ts'
import { nodeResourcesBalancedAllocation } from './balanced-allocation.ts'
import { nodeResourcesFit } from './fit.ts'

const gpu = 'example.com/gpu'

/** Nodes `a` and `b`. Default: 4 cores and 10,000 bytes of memory. */
const nodes = (a: Record<string, string> = {}, b: Record<string, string> = {}) => [
  aNode('a', { allocatable: { cpu: '4', memory: '10000', ...a } }),
  aNode('b', { allocatable: { cpu: '4', memory: '10000', ...b } }),
]
const on = (nodeName: string, cpu: string, memory: string): Pod =>
  aPod(`on-${nodeName}-${cpu}-${memory}`, { ...withRequests({ cpu, memory }), nodeName })
const strategy = (type: string, more: object = {}) => ({ scoringStrategy: { type, ...more } })

test('LeastAllocated prefers emptier nodes', () => {
  const cases: [string, Record<string, string>, ReturnType<typeof nodes>, Pod[], Record<string, number>][] = [
    ['no requests, empty nodes', { cpu: '0', memory: '0' }, nodes(), [], { a: 100, b: 100 }],
    ['nodes of another size', { cpu: '3', memory: '5000' }, nodes({}, { cpu: '6' }), [], { a: 37, b: 50 }],
    ['a busy node', { cpu: '1', memory: '2000' }, nodes(), [on('a', '2', '5000')], { a: 27, b: 77 }],
    ['more than allocatable', { cpu: '3', memory: '1000' }, nodes(), [on('a', '2', '0')], { a: 45, b: 57 }],
    ['a node without memory', { cpu: '1', memory: '0' }, nodes({ memory: '0' }), [], { a: 75, b: 87 }],
  ]
  for (const [title, requests, all, pods, expected] of cases)
    assert.deepEqual(
      scoreWith(nodeResourcesFit, aPod('p', withRequests(requests)), { nodes: all, pods }),
      expected,
      title,
    )
  // A container without requests counts with 100m and 200Mi.
  const large = [aNode('a', { allocatable: { cpu: '1', memory: '400Mi' } })]
  assert.deepEqual(scoreWith(nodeResourcesFit, aPod('p'), { nodes: large }), { a: 70 })
  assert.deepEqual(scoreWith(nodeResourcesFit, aPod('p'), { nodes: large, pods: [aPod('q', { nodeName: 'a' })] }), {
    a: 40,
  })
})

test('resources have weights; extended ones count for pods that request them', () => {
  const weights = (cpu: number, memory: number) => ({
    resources: [
      { name: 'cpu', weight: cpu },
      { name: 'memory', weight: memory },
    ],
  })
  const pod = aPod('p', withRequests({ cpu: '3', memory: '5000' }))
  assert.deepEqual(
    scoreWith(nodeResourcesFit, pod, { nodes: nodes(), args: strategy('LeastAllocated', weights(2, 1)) }),
    { a: 33, b: 33 },
  )
  const withGpu = {
    resources: [
      { name: 'cpu', weight: 1 },
      { name: gpu, weight: 3 },
    ],
  }
  const args = strategy('LeastAllocated', withGpu)
  const some = nodes({ [gpu]: '4' }, { [gpu]: '8' })
  assert.deepEqual(
    scoreWith(nodeResourcesFit, aPod('p', withRequests({ cpu: '2', [gpu]: '2' })), { nodes: some, args }),
    {
      a: 50,
      b: 68,
    },
  )
  assert.deepEqual(scoreWith(nodeResourcesFit, aPod('p', withRequests({ cpu: '2' })), { nodes: some, args }), {
    a: 50,
    b: 50,
  })
})

test('MostAllocated prefers fuller nodes', () => {
  const args = strategy('MostAllocated')
  const cases: [string, Record<string, string>, ReturnType<typeof nodes>, Pod[], Record<string, number>][] = [
    ['no requests, empty nodes', { cpu: '0', memory: '0' }, nodes(), [], { a: 0, b: 0 }],
    ['nodes of another size', { cpu: '3', memory: '5000' }, nodes({}, { cpu: '6' }), [], { a: 62, b: 50 }],
    ['a busy node', { cpu: '1', memory: '2000' }, nodes(), [on('a', '2', '5000')], { a: 72, b: 22 }],
    ['more than allocatable', { cpu: '3', memory: '9000' }, nodes(), [on('a', '2', '5000')], { a: 100, b: 82 }],
  ]
  for (const [title, requests, all, pods, expected] of cases)
    assert.deepEqual(
      scoreWith(nodeResourcesFit, aPod('p', withRequests(requests)), { nodes: all, pods, args }),
      expected,
      title,
    )
})

test('RequestedToCapacityRatio follows the configured shape', () => {
  const shape = (...points: [number, number][]) =>
    strategy('RequestedToCapacityRatio', {
      requestedToCapacityRatio: { shape: points.map(([utilization, score]) => ({ utilization, score })) },
    })
  const packing = shape([0, 0], [100, 10])
  const spreading = shape([0, 10], [100, 0])
  const peak = shape([10, 1], [50, 9], [90, 4])
  const pod = aPod('p', withRequests({ cpu: '1', memory: '2000' }))
  const cases: [string, Record<string, unknown>, Pod[], Record<string, number>][] = [
    ['packing', packing, [on('a', '2', '5000')], { a: 73, b: 23 }],
    ['spreading', spreading, [on('a', '2', '5000')], { a: 28, b: 78 }],
    ['a full node', packing, [on('a', '4', '10000')], { a: 100, b: 23 }],
    ['before the first point and behind the last', peak, [on('a', '3', '8000')], { a: 40, b: 35 }],
    ['resources with score 0 do not count', spreading, [on('a', '3', '0')], { a: 80, b: 78 }],
  ]
  for (const [title, args, pods, expected] of cases)
    assert.deepEqual(scoreWith(nodeResourcesFit, pod, { nodes: nodes(), pods, args }), expected, title)
})

test('balanced allocation prefers nodes that become more balanced with the pod', () => {
  const pod = (cpu: string, memory: string): Pod => aPod('p', withRequests({ cpu, memory }))
  const cases: [string, Pod, ReturnType<typeof nodes>, Pod[], Record<string, number>][] = [
    ['as balanced as before', pod('2', '5000'), nodes(), [], { a: 75, b: 75 }],
    ['less balanced', pod('3', '5000'), nodes({}, { cpu: '6' }), [], { a: 68, b: 75 }],
    ['it becomes balanced', pod('2', '0'), nodes(), [on('a', '0', '5000')], { a: 87, b: 62 }],
    ['it becomes unbalanced', pod('2', '0'), nodes(), [on('a', '2', '0')], { a: 62, b: 62 }],
    ['a node without memory', pod('2', '0'), nodes({ memory: '0' }), [], { a: 75, b: 62 }],
    ['more than allocatable', pod('4', '0'), nodes(), [on('a', '4', '0')], { a: 75, b: 50 }],
  ]
  for (const [title, given, all, pods, expected] of cases)
    assert.deepEqual(scoreWith(nodeResourcesBalancedAllocation, given, { nodes: all, pods }), expected, title)
  assert.deepEqual(scoreWith(nodeResourcesBalancedAllocation, aPod('p'), { nodes: nodes() }), {})
})

test('balanced allocation of three resources', () => {
  const args = { resources: [{ name: 'cpu' }, { name: 'memory' }, { name: gpu }] }
  const some = nodes({ [gpu]: '4' }, { [gpu]: '4' })
  const pod = aPod('p', withRequests({ cpu: '2', memory: '5000', [gpu]: '2' }))
  assert.deepEqual(scoreWith(nodeResourcesBalancedAllocation, pod, { nodes: some, pods: [on('a', '1', '0')], args }), {
    a: 75,
    b: 75,
  })
  const uneven = aPod('p', withRequests({ cpu: '4', memory: '0', [gpu]: '2' }))
  assert.deepEqual(scoreWith(nodeResourcesBalancedAllocation, uneven, { nodes: some, args }), { a: 54, b: 54 })
})

test('invalid arguments are rejected', () => {
  const faults = (factory: PluginFactory, given: Record<string, unknown>): string[] =>
    (factory.args?.validate?.(factory.args.withDefaults(given), 'args') ?? []).map(
      ({ field, message }: FieldError) => `${field}: ${message}`,
    )
  const ratio = (shape: object[]) => ({
    scoringStrategy: { type: 'RequestedToCapacityRatio', requestedToCapacityRatio: { shape } },
  })
  const cases: [PluginFactory, Record<string, unknown>, string[]][] = [
    [nodeResourcesFit, {}, []],
    [
      nodeResourcesFit,
      { ignoredResourceGroups: ['a/b'] },
      [`args.ignoredResourceGroups[0]: Invalid value: "a/b": resource group name can't contain '/'`],
    ],
    [
      nodeResourcesFit,
      strategy('Random'),
      [
        'args.scoringStrategy.type: Unsupported value: "Random": supported values: "LeastAllocated", ' +
          '"MostAllocated", "RequestedToCapacityRatio"',
      ],
    ],
    [
      nodeResourcesFit,
      strategy('MostAllocated', { resources: [{ name: 'cpu', weight: 101 }] }),
      [
        'args.scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of cpu not in valid range ' +
          '(0, 100]',
      ],
    ],
    [
      nodeResourcesFit,
      strategy('RequestedToCapacityRatio'),
      ['args.scoringStrategy.shape: Required value: at least one point must be specified'],
    ],
    [
      nodeResourcesFit,
      ratio([
        { utilization: 50, score: 1 },
        { utilization: 20, score: 2 },
      ]),
      ['args.scoringStrategy.shape[1].utilization: Invalid value: 20: values must be sorted in increasing order'],
    ],
    [
      nodeResourcesFit,
      ratio([{ utilization: 101, score: 11 }]),
      [
        'args.scoringStrategy.shape[0].utilization: Invalid value: 101: not in valid range [0, 100]',
        'args.scoringStrategy.shape[0].score: Invalid value: 11: not in valid range [0, 10]',
      ],
    ],
    [nodeResourcesBalancedAllocation, {}, []],
    [
      nodeResourcesBalancedAllocation,
      { resources: [{ name: 'cpu', weight: 2 }, { name: 'cpu' }] },
      ['args.resources[0].weight: Invalid value: 2: must be 1', 'args.resources[1].name: Duplicate value: "cpu"'],
    ],
  ]
  for (const [factory, given, expected] of cases)
    assert.deepEqual(faults(factory, given), expected, JSON.stringify(given))
})
