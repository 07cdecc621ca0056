import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice } from '../../../client/kinds.ts'
import { pack } from './packing.ts'
import type { Endpoint, SlicePlan } from './slice.ts'

const endpoint = (n: number, ready = true): Endpoint => ({
  addresses: [`10.0.0.${n}`],
  conditions: { ready },
  targetRef: { kind: 'Pod', namespace: 'ns', name: `p${n}` },
})

const slice = (name: string, ...numbers: number[]): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name, labels: {} },
  addressType: 'IPv4',
  endpoints: numbers.map((n) => endpoint(n)),
})

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i)

const numbersOf = ({ endpoints }: EndpointSlice): string =>
  (endpoints ?? []).map(({ addresses }) => addresses[0]?.split('.')[3]).join()

/** Formats a plan: `a: 1,2` for updated slices, `+: 3` for new ones, `-a` for deleted ones. */
const notation = ({ create, update, remove }: SlicePlan): string[] => [
  ...update.map((one) => `${one.metadata.name}: ${numbersOf(one)}`),
  ...create.map((one) => `+: ${numbersOf(one)}`),
  ...remove.map(({ metadata }) => `-${metadata.name}`),
]

const packed = (existing: EndpointSlice[], desired: Endpoint[], withLabels = (one: EndpointSlice) => one): SlicePlan =>
  pack({ existing, desired, max: 4, createEmpty: () => slice(''), withLabels })

const cases: { title: string; existing: EndpointSlice[]; desired: number[]; expected: string[] }[] = [
  {
    title: 'an unchanged set of endpoints writes nothing',
    existing: [slice('a', 1, 2)],
    desired: [1, 2],
    expected: [],
  },
  {
    title: 'the first endpoints fill slices of the maximum size',
    existing: [],
    desired: range(1, 9),
    expected: ['+: 1,2,3,4', '+: 5,6,7,8', '+: 9'],
  },
  {
    title: 'a new endpoint goes into a slice with space',
    existing: [slice('a', 1, 2)],
    desired: [1, 2, 3],
    expected: ['a: 1,2,3'],
  },
  {
    title: 'the fullest slice with space is used',
    existing: [slice('a', 1), slice('b', 2, 3)],
    desired: [1, 2, 3, 4],
    expected: ['b: 2,3,4'],
  },
  {
    title: 'endpoints that fit into no existing slice get a new one',
    existing: [slice('a', 1, 2, 3), slice('b', 4, 5, 6)],
    desired: range(1, 8),
    expected: ['+: 7,8'],
  },
  {
    title: 'slices are not merged after an endpoint is removed',
    existing: [slice('a', 1, 2), slice('b', 3, 4)],
    desired: [1, 3, 4],
    expected: ['a: 1'],
  },
  {
    title: 'updated slices are filled',
    existing: [slice('a', 1, 2), slice('b', 3)],
    desired: [1, 3, 5, 6],
    expected: ['a: 1,5,6'],
  },
  { title: 'an empty slice is deleted', existing: [slice('a', 1), slice('b', 2)], desired: [2], expected: ['-a'] },
  {
    title: 'a duplicate endpoint is retained once',
    existing: [slice('a', 1, 2), slice('b', 2, 3)],
    desired: [1, 2, 3],
    expected: ['b: 3'],
  },
]

for (const { title, existing, desired, expected } of cases) {
  test(title, () =>
    assert.deepEqual(
      notation(
        packed(
          existing,
          desired.map((n) => endpoint(n)),
        ),
      ),
      expected,
    ),
  )
}

test('an endpoint whose state changes stays in its slice', () => {
  const plan = packed([slice('a', 1, 2), slice('b', 3)], [endpoint(1), endpoint(2, false), endpoint(3)])
  assert.deepEqual(notation(plan), ['a: 1,2'])
  assert.equal(plan.update[0]?.endpoints?.[1]?.conditions?.ready, false)
})

test('a slice with wrong labels is updated', () => {
  const plan = packed([slice('a', 1)], [endpoint(1)], (one) => ({
    ...one,
    metadata: { ...one.metadata, labels: { tier: 'front' } },
  }))
  assert.deepEqual(plan.update[0]?.metadata.labels, { tier: 'front' })
})

/** Seeded random numbers from 0 to below 1 (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}

test('after random changes each endpoint is in one slice, no slice is too large, and packing is idempotent', () => {
  const random = randomFrom(7)
  let slices: EndpointSlice[] = []
  let created = 0
  for (let round = 0; round < 300; round++) {
    const share = random()
    const desired = range(1, 30)
      .filter(() => random() < share)
      .map((n) => endpoint(n, random() < 0.8))
    const { create, update, remove, unchanged } = packed(slices, desired)
    assert.equal(update.length + remove.length + unchanged.length, slices.length)
    slices = [
      ...unchanged,
      ...update,
      ...create.map((one) => ({ ...one, metadata: { ...one.metadata, name: `s${created++}` } })),
    ]
    const packedEndpoints = slices.flatMap(({ endpoints }) => endpoints ?? [])
    const byAddress = (a: Endpoint, b: Endpoint): number =>
      Number(a.addresses[0]?.slice(7)) - Number(b.addresses[0]?.slice(7))
    assert.deepEqual(packedEndpoints.sort(byAddress), desired)
    assert.ok(slices.every(({ endpoints }) => (endpoints?.length ?? 0) <= 4))
    const repeated = packed(slices, desired)
    assert.deepEqual([repeated.create, repeated.update, repeated.remove], [[], [], []])
  }
})
