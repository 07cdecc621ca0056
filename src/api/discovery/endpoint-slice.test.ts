import assert from 'node:assert/strict'
import test from 'node:test'
import { endpointSlices } from './endpoint-slice.ts'

const validationErrors = (addressType: string, endpoint: object): string[] =>
  (
    endpointSlices.validate?.object?.({ metadata: { name: 's' }, addressType, endpoints: [endpoint] } as never) ?? []
  ).map(({ field, message }) => `${field.replace('endpoints[0].', '')}: ${message}`)

test('hints of an endpoint have unique zones and nodes', () => {
  const zones = (...names: string[]): string[] =>
    validationErrors('IPv4', { addresses: ['1.2.3.4'], hints: { forZones: names.map((name) => ({ name })) } })
  assert.deepEqual(zones('a', 'b'), [])
  assert.deepEqual(zones('a', 'a'), ['hints.forZones[1].name: Duplicate value: "a"'])
  assert.equal(zones('a b').length, 1)
  assert.deepEqual(zones(...'abcdefghi'), ['hints.forZones: Too many: 9: must have at most 8 items'])
})

test('FQDN addresses have at least two labels', () => {
  assert.deepEqual(validationErrors('FQDN', { addresses: ['a'] }), [
    'addresses[0]: Invalid value: "a": should be a domain with at least two segments separated by dots',
  ])
  assert.deepEqual(validationErrors('FQDN', { addresses: ['a.b.'] }), [])
})

test('addresses must match the addressType of the slice', () => {
  assert.deepEqual(validationErrors('IPv4', { addresses: ['123.456.789.012', '2001:4860:4860::8888', '127.0.0.1'] }), [
    'addresses[0]: Invalid value: "123.456.789.012": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    'addresses: Invalid value: "2001:4860:4860::8888": must be an IPv4 address',
    'addresses[2]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
  ])
  assert.deepEqual(validationErrors('IP', { addresses: [] }), [
    'addressType: Unsupported value: "IP": supported values: "FQDN", "IPv4", "IPv6"',
    'addresses: Required value: must contain at least 1 address',
  ])
})
