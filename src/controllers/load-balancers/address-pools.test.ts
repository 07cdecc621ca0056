import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { chooseAddresses, parsePools, type WantedAddresses } from './address-pools.ts'

const wanted = (rest: Partial<WantedAddresses> = {}): WantedAddresses => ({
  families: ['IPv4'],
  requested: undefined,
  current: [],
  ...rest,
})

const choose = (pools: string, rest: Partial<WantedAddresses> = {}, taken: readonly string[] = []): string[] =>
  chooseAddresses(parsePools(pools), wanted(rest), new Set(taken))

describe('a load balancer gets', () => {
  test('the first free address of the pool', () => {
    assert.deepEqual(choose('192.0.2.0/24'), ['192.0.2.1'])
    assert.deepEqual(choose('192.0.2.0/24', {}, ['192.0.2.1', '192.0.2.2']), ['192.0.2.3'])
    assert.deepEqual(choose('192.0.2.9/32'), ['192.0.2.9'])
  })

  test('the address that it has, or asks for, if nobody else has it', () => {
    assert.deepEqual(choose('192.0.2.0/24', { current: ['192.0.2.7'] }), ['192.0.2.7'])
    assert.deepEqual(choose('192.0.2.0/24', { requested: '192.0.2.8', current: ['192.0.2.7'] }), ['192.0.2.8'])
    assert.deepEqual(choose('192.0.2.0/24', { current: ['192.0.2.7'] }, ['192.0.2.7']), ['192.0.2.1'])
    assert.deepEqual(choose('192.0.2.0/24', { current: ['198.51.100.7'] }), ['192.0.2.1'])
  })

  test('an address of each of its families that has a pool', () => {
    const families = ['IPv6', 'IPv4']
    assert.deepEqual(choose('192.0.2.0/24,2001:db8::/112', { families }), ['2001:db8::1', '192.0.2.1'])
    assert.deepEqual(choose('192.0.2.0/24', { families }), ['192.0.2.1'])
  })
})

test('a family without a pool, and a full pool, are errors that name the flag', () => {
  assert.throws(() => choose('192.0.2.0/24', { families: ['IPv6'] }), /addresses of IPv6: add .* --load-balancer-pool/)
  assert.throws(() => choose('192.0.2.9/32', {}, ['192.0.2.9']), /in use: add a range/)
  assert.throws(() => parsePools('192.0.2.1'), /192\.0\.2\.1 is not a range of addresses/)
})
