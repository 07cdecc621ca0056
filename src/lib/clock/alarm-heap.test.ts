import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AlarmHeap } from './alarm-heap.ts'

test('returns calls by time, and those of one time in their order', () => {
  const heap = new AlarmHeap()
  const rung: number[] = []
  const times = Array.from({ length: 500 }, (_, index) => (index * 7919) % 100)
  const calls = times.map((time, index) => heap.add(time, () => rung.push(index)))
  const isCancelled = (index: number): boolean => index % 3 === 0
  for (const [index, call] of calls.entries()) if (isCancelled(index)) heap.cancel(call)
  assert.equal(heap.next, Math.min(...times.filter((_, index) => !isCancelled(index))))
  for (const ring of [...heap.takeUntil(50), ...heap.takeUntil(100)]) ring()
  const expected = [...times.keys()].filter((index) => !isCancelled(index))
  expected.sort((one, other) => times[one]! - times[other]! || one - other)
  assert.deepEqual(rung, expected)
  assert.equal(heap.next, Number.POSITIVE_INFINITY)
})

test('a call is made once, however often it is cancelled', () => {
  const heap = new AlarmHeap()
  const call = heap.add(1, () => {})
  heap.cancel(call)
  heap.cancel(call)
  assert.equal(heap.takeUntil(2).length, 0)
  const other = heap.add(1, () => {})
  assert.equal(heap.takeUntil(2).length, 1)
  heap.cancel(other)
  heap.add(3, () => {})
  heap.clear()
  assert.equal(heap.next, Number.POSITIVE_INFINITY)
})
