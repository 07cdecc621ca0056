import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Leases } from './leases.ts'

function leases() {
  const granted: number[] = []
  const clock = { now: 0 }
  const made = new Leases({
    grant: async (seconds) => BigInt(granted.push(seconds)),
    now: () => clock.now,
    reuseSeconds: 60,
  })
  return { granted, clock, leaseFor: (seconds: number) => made.leaseFor(seconds), forget: () => made.forget() }
}

test('keys written within 5 % of the time to live, at most a minute, share a lease', async () => {
  const { granted, clock, leaseFor } = leases()
  assert.equal(await leaseFor(3600), 1n)
  clock.now = 59_999
  assert.equal(await leaseFor(3600), 1n)
  clock.now = 60_000
  assert.equal(await leaseFor(3600), 2n)
  assert.deepEqual(granted, [3660, 3660])
  assert.equal(await leaseFor(100), 3n)
  clock.now += 4_999
  assert.equal(await leaseFor(100), 3n)
  clock.now += 1
  assert.equal(await leaseFor(100), 4n)
})

test('a short time to live shares no lease', async () => {
  const { granted, leaseFor } = leases()
  assert.deepEqual(await Promise.all([leaseFor(1), leaseFor(1)]), [1n, 2n])
  assert.deepEqual(granted, [1, 1])
})

test('many keys at the same time ask for one lease, and a lease has at most 1,000 keys', async () => {
  const { granted, leaseFor } = leases()
  const ids = await Promise.all(Array.from({ length: 1_001 }, () => leaseFor(3600)))
  assert.deepEqual(granted, [3660, 3660])
  assert.equal(ids.filter((id) => id === 1n).length, 1_000)
})

test('a forgotten lease is not used again', async () => {
  const { leaseFor, forget } = leases()
  await leaseFor(3600)
  forget()
  assert.equal(await leaseFor(3600), 2n)
})
