import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allocateSeats, type Claim } from './seat-allocation.ts'

const claims = (...rows: readonly (readonly [target: number, least: number, most: number])[]): Claim[] =>
  rows.map(([target, least, most]) => ({ target, least, most }))

test('seats follow the targets, within bounds, and add up', () => {
  const table: readonly (readonly [total: number, claims: Claim[], seats: number[]])[] = [
    [30, claims([10, 0, 100], [20, 0, 100]), [10, 20]],
    [60, claims([10, 0, 100], [20, 0, 100]), [20, 40]],
    [60, claims([10, 0, 15], [20, 0, 100]), [15, 45]],
    [20, claims([10, 10, 15], [20, 5, 100]), [10, 10]],
    [15, claims([10, 10, 15], [20, 5, 100]), [10, 5]],
    [115, claims([10, 10, 15], [20, 5, 100]), [15, 100]],
    [10, claims([0, 0, 10], [0, 0, 10]), [5, 5]],
    [10, claims([0, 0, 10], [8, 0, 10]), [0.00125, 9.99875]],
    [0, claims([5, 0, 10]), [0]],
  ]
  for (const [total, given, seats] of table) {
    const got = allocateSeats(total, given)?.seats ?? []
    for (const [i, seat] of seats.entries()) assert.ok(Math.abs(got[i]! - seat) < 0.01, `${total} of ${JSON.stringify(given)}: ${got}`)
  }
})

test('bounds that leave no solution are told as that', () => {
  assert.equal(allocateSeats(10, claims([6, 6, 10], [6, 6, 10])), undefined)
  assert.equal(allocateSeats(30, claims([6, 6, 10], [6, 6, 10])), undefined)
})
