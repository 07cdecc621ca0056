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
    for (const [i, seat] of seats.entries())
      assert.ok(Math.abs(got[i]! - seat) < 0.01, `${total} of ${JSON.stringify(given)}: ${got}`)
  }
})

test('bounds without a solution return undefined', () => {
  assert.equal(allocateSeats(10, claims([6, 6, 10], [6, 6, 10])), undefined)
  assert.equal(allocateSeats(30, claims([6, 6, 10], [6, 6, 10])), undefined)
})

/** Numbers from 0 to 1, the same in each run. */
function* randoms(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    yield state / 2 ** 32
  }
}

test('seats add up for random targets and bounds, and each is at a bound or at its fair share', () => {
  const numbers = randoms(1_234_567_890)
  const random = (): number => numbers.next().value
  for (let round = 0; round < 3000; round++) {
    const given = Array.from({ length: 1 + Math.floor(random() * 9) }, (): Claim => {
      const least = Math.max(0, random() * 5 - 1)
      return random() < 0.2
        ? { target: 0, least: 0, most: random() + 0.00001 }
        : { target: least + 2 * random(), least, most: least + 3 * random() }
    })
    const sum = (of: (claim: Claim) => number): number => given.reduce((all, claim) => all + of(claim), 0)
    const [least, most] = [sum((claim) => claim.least), sum((claim) => claim.most)]
    const total = Math.round(least + (most - least) * random())
    const got = allocateSeats(total, given)
    const words = `${total} of ${JSON.stringify(given)}`
    if (least - total > 1e-7 || total - most > 1e-7) {
      assert.equal(got, undefined, words)
      continue
    }
    assert.ok(got, words)
    const { seats, fairFraction } = got
    assert.ok(Math.abs(seats.reduce((all, one) => all + one, 0) - total) < 1e-6, words)
    for (const [i, claim] of given.entries()) {
      const part = fairFraction * Math.max(claim.target, 0.001)
      const wanted = Math.max(claim.least, Math.min(claim.most, part))
      assert.ok(Math.abs(seats[i]! - wanted) < 1e-6, words)
    }
  }
})
