import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressesAfter, addressRange, isInRange, rangeText } from './address-range.ts'

test('a range gives each address once, beginning after the last one, without the gateway', () => {
  const range = addressRange({ subnet: '10.0.0.0/29' })
  assert.equal(range.gateway, '10.0.0.1')
  assert.deepEqual([...addressesAfter(range, undefined)], ['10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6'])
  assert.deepEqual([...addressesAfter(range, '10.0.0.4')], ['10.0.0.5', '10.0.0.6', '10.0.0.2', '10.0.0.3', '10.0.0.4'])
  assert.deepEqual([...addressesAfter(range, '10.0.0.6')].at(0), '10.0.0.2')
})

test('a range can be a part of its subnet, and have a gateway outside of the part', () => {
  const options = { subnet: 'fd00::/64', rangeStart: 'fd00::10', rangeEnd: 'fd00::11', gateway: 'fd00::1' }
  const range = addressRange(options)
  assert.deepEqual([...addressesAfter(range, undefined)], ['fd00::10', 'fd00::11'])
  assert.equal(rangeText(range), 'fd00::10-fd00::11')
  assert.ok(isInRange(range, 'fd00::11'))
  for (const other of ['fd00::12', 'fd00::1', '10.0.0.1', 'x']) assert.ok(!isInRange(range, other))
})

test('ranges without room or with addresses of other subnets are errors that name the field', () => {
  const cases: [Parameters<typeof addressRange>[0], RegExp][] = [
    [{ subnet: 'x' }, /^Error: subnet "x" is not a range such as 10\.88\.0\.0\/16$/],
    [{ subnet: '10.0.0.0/31' }, /^Error: subnet 10\.0\.0\.0\/31 is too small/],
    [{ subnet: '10.0.0.0/24', gateway: '10.0.1.1' }, /^Error: gateway "10\.0\.1\.1" is not an address of the subnet/],
    [{ subnet: '10.0.0.0/24', rangeStart: '10.0.0.9', rangeEnd: '10.0.0.3' }, /^Error: rangeEnd 10\.0\.0\.3 is before/],
  ]
  for (const [options, message] of cases) assert.throws(() => addressRange(options), message)
})
