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

/** `a: 1,2` for each slice that is written, `+: 3` for new ones, `-a` for those that go. */
const brief = ({ create, update, remove }: SlicePlan): string[] => [
  ...update.map((one) => `${one.metadata.name}: ${numbersOf(one)}`),
  ...create.map((one) => `+: ${numbersOf(one)}`),
  ...remove.map(({ metadata }) => `-${metadata.name}`),
]

const packed = (existing: EndpointSlice[], wanted: Endpoint[], labelled = (one: EndpointSlice) => one): SlicePlan =>
  pack({ existing, wanted, max: 4, fresh: () => slice(''), labelled })

const cases: { what: string; existing: EndpointSlice[]; wanted: number[]; expected: string[] }[] = [
  { what: 'nothing to do is nothing to write', existing: [slice('a', 1, 2)], wanted: [1, 2], expected: [] },
  {
    what: 'the first endpoints make slices of the most that may be in one',
    existing: [],
    wanted: range(1, 9),
    expected: ['+: 1,2,3,4', '+: 5,6,7,8', '+: 9'],
  },
  {
    what: 'a new endpoint goes into a slice with room',
    existing: [slice('a', 1, 2)],
    wanted: [1, 2, 3],
    expected: ['a: 1,2,3'],
  },
  {
    what: 'of slices with room the fullest is taken',
    existing: [slice('a', 1), slice('b', 2, 3)],
    wanted: [1, 2, 3, 4],
    expected: ['b: 2,3,4'],
  },
  {
    what: 'what does not fit into one slice that is there makes a new one: other slices stay as they are',
    existing: [slice('a', 1, 2, 3), slice('b', 4, 5, 6)],
    wanted: range(1, 8),
    expected: ['+: 7,8'],
  },
  {
    what: 'an endpoint that goes leaves a gap: slices are not put together',
    existing: [slice('a', 1, 2), slice('b', 3, 4)],
    wanted: [1, 3, 4],
    expected: ['a: 1'],
  },
  {
    what: 'slices that are written anyway are filled',
    existing: [slice('a', 1, 2), slice('b', 3)],
    wanted: [1, 3, 5, 6],
    expected: ['a: 1,5,6'],
  },
  { what: 'a slice without endpoints goes', existing: [slice('a', 1), slice('b', 2)], wanted: [2], expected: ['-a'] },
  {
    what: 'what others hold more than once, stays once',
    existing: [slice('a', 1, 2), slice('b', 2, 3)],
    wanted: [1, 2, 3],
    expected: ['b: 3'],
  },
]

for (const { what, existing, wanted, expected } of cases) {
  test(what, () =>
    assert.deepEqual(
      brief(
        packed(
          existing,
          wanted.map((n) => endpoint(n)),
        ),
      ),
      expected,
    ),
  )
}

test('an endpoint whose state changes stays where it is', () => {
  const plan = packed([slice('a', 1, 2), slice('b', 3)], [endpoint(1), endpoint(2, false), endpoint(3)])
  assert.deepEqual(brief(plan), ['a: 1,2'])
  assert.equal(plan.update[0]?.endpoints?.[1]?.conditions?.ready, false)
})

test('a slice with other labels than it should have is written', () => {
  const plan = packed([slice('a', 1)], [endpoint(1)], (one) => ({
    ...one,
    metadata: { ...one.metadata, labels: { tier: 'front' } },
  }))
  assert.deepEqual(plan.update[0]?.metadata.labels, { tier: 'front' })
})

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}

test(
  'whatever comes and goes, each wanted endpoint is in one slice, no slice is too full, and looking again ' +
    'changes nothing',
  () => {
    const random = randomFrom(7)
    let slices: EndpointSlice[] = []
    let made = 0
    for (let round = 0; round < 300; round++) {
      const share = random()
      const wanted = range(1, 30)
        .filter(() => random() < share)
        .map((n) => endpoint(n, random() < 0.8))
      const { create, update, remove, unchanged } = packed(slices, wanted)
      assert.equal(update.length + remove.length + unchanged.length, slices.length)
      slices = [
        ...unchanged,
        ...update,
        ...create.map((one) => ({ ...one, metadata: { ...one.metadata, name: `s${made++}` } })),
      ]
      const told = slices.flatMap(({ endpoints }) => endpoints ?? [])
      const byAddress = (a: Endpoint, b: Endpoint): number =>
        Number(a.addresses[0]?.slice(7)) - Number(b.addresses[0]?.slice(7))
      assert.deepEqual(told.sort(byAddress), wanted)
      assert.ok(slices.every(({ endpoints }) => (endpoints?.length ?? 0) <= 4))
      const again = packed(slices, wanted)
      assert.deepEqual([again.create, again.update, again.remove], [[], [], []])
    }
  },
)
