import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Heap } from './heap.ts'

interface Item {
  readonly key: string
  readonly rank: number
}

test('items come out in order after any inserts, changes and deletes', () => {
  const heap = new Heap<Item>((a, b) => a.rank < b.rank)
  const truth = new Map<string, number>()
  // A fixed pseudo-random sequence.
  let state = 7
  const next = (below: number): number => (state = (state * 48_271) % 2_147_483_647) % below
  for (let step = 0; step < 2000; step++) {
    const key = `k${next(60)}`
    if (next(4) === 0) {
      assert.equal(heap.delete(key)?.rank, truth.get(key))
      truth.delete(key)
    } else {
      const rank = next(1000)
      heap.set({ key, rank })
      truth.set(key, rank)
    }
    assert.equal(heap.size, truth.size)
    assert.equal(heap.first?.rank, truth.size > 0 ? Math.min(...truth.values()) : undefined)
  }
  const ranks = Array.from({ length: heap.size }, () => heap.pop()?.rank ?? Number.NaN)
  assert.deepEqual(
    ranks,
    [...truth.values()].sort((a, b) => a - b),
  )
})
