import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalAddress, parseAddressRanges } from './address-range.ts'

const rangeOf = (text: string) => parseAddressRanges(text)[0]!
const none = (): boolean => false

/** All addresses of a range in the order of their allocation, when each search starts at the beginning of a band. */
function drain(text: string): string[] {
  const range = rangeOf(text)
  const taken = new Set<string>()
  for (;;) {
    const address = range.findFree(
      (one) => taken.has(one),
      () => 0,
    )
    if (!address) return [...taken]
    taken.add(address)
  }
}

test('the first address of a range is the one after its network address', () => {
  assert.equal(rangeOf('10.0.0.0/24').firstAddress, '10.0.0.1')
  assert.equal(rangeOf('fd00::/108').firstAddress, 'fd00::1')
})

test('the network and the broadcast address belong to no Service', () => {
  const range = rangeOf('10.0.0.7/24')
  assert.equal(range.text, '10.0.0.0/24')
  assert.deepEqual(
    ['10.0.0.0', '10.0.0.1', '10.0.0.254', '10.0.0.255', '10.0.1.1', 'fd00::1'].map((address) =>
      range.contains(address),
    ),
    [false, true, true, false, false, false],
  )
  assert.equal(rangeOf('fd00::/120').contains('fd00::ff'), true)
})

test('addresses are allocated from the upper band first; the lower is for static requests', () => {
  const addresses = drain('10.0.0.0/24')
  assert.equal(addresses.length, 254)
  assert.equal(addresses[0], '10.0.0.17')
  assert.deepEqual(
    addresses.slice(-16),
    Array.from({ length: 16 }, (_, i) => `10.0.0.${i + 1}`),
  )
})

test('small ranges have no bands and all their addresses are allocated', () => {
  assert.deepEqual(drain('10.0.0.0/30'), ['10.0.0.1', '10.0.0.2'])
  assert.deepEqual(drain('10.0.0.4/32'), [])
  assert.equal(drain('10.0.0.0/28').length, 14)
})

test('the search starts at a random address and wraps around', () => {
  const range = rangeOf('10.0.0.0/24')
  assert.equal(
    range.findFree(none, () => 0.999_99),
    '10.0.0.254',
  )
  assert.equal(
    range.findFree(
      (address) => address === '10.0.0.254',
      () => 0.999_99,
    ),
    '10.0.0.17',
  )
  assert.match(rangeOf('fd00::/64').findFree(none, Math.random)!, /^fd00::/)
})

test('two ranges must be one of each family', () => {
  assert.deepEqual(
    parseAddressRanges('10.0.0.0/24, fd00::/108').map(({ family }) => family),
    ['IPv4', 'IPv6'],
  )
  for (const text of ['', '10.0.0.0', '10.0.0.0/24,10.1.0.0/24', '10.0.0.0/24,fd00::/108,fd01::/108'])
    assert.throws(() => parseAddressRanges(text), Error)
})

test('an IPv6 address has one canonical form', () => {
  assert.equal(canonicalAddress('fd00:0:0::0A'), 'fd00::a')
  assert.equal(canonicalAddress('10.0.0.1'), '10.0.0.1')
})
