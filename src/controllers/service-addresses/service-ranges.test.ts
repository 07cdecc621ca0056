import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IPAddress, ServiceCIDR } from '../../client/kinds.ts'
import { mayGo } from './service-ranges.ts'

const cidr = (name: string, cidrs: string[], isDeleted = false): ServiceCIDR => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata: { name, ...(isDeleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
  spec: { cidrs },
})

const address = (name: string, manager = 'ipallocator.k8s.io'): IPAddress => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IPAddress',
  metadata: { name, labels: { 'ipaddress.kubernetes.io/managed-by': manager } },
  spec: { parentRef: { resource: 'services', name: 's' } },
})

const leaving = cidr('leaving', ['10.1.0.0/24', 'fd00::/112'], true)

const cases: { what: string; others?: ServiceCIDR[]; addresses?: IPAddress[]; expected: boolean }[] = [
  { what: 'a range without addresses', expected: true },
  { what: 'a range with an address', addresses: [address('10.1.0.7')], expected: false },
  { what: 'a range with an address of its other family', addresses: [address('fd00::7')], expected: false },
  { what: 'addresses of other ranges do not count', addresses: [address('10.2.0.7')], expected: true },
  { what: 'addresses that others keep do not count', addresses: [address('10.1.0.7', 'somebody')], expected: true },
  {
    what: 'a range within another',
    others: [cidr('outer', ['10.0.0.0/8', 'fd00::/64'])],
    addresses: [address('10.1.0.7')],
    expected: true,
  },
  {
    what: 'addresses that lie in another range',
    others: [cidr('inner', ['10.1.0.0/28'])],
    addresses: [address('10.1.0.7')],
    expected: true,
  },
  {
    what: 'addresses outside of the other range',
    others: [cidr('inner', ['10.1.0.0/28'])],
    addresses: [address('10.1.0.77')],
    expected: false,
  },
  {
    what: 'a range that goes too holds nothing',
    others: [cidr('outer', ['10.0.0.0/8'], true)],
    addresses: [address('10.1.0.7')],
    expected: false,
  },
]

for (const { what, others = [], addresses = [], expected } of cases) {
  test(`${what}: ${expected ? 'goes' : 'stays'}`, () =>
    assert.equal(mayGo(leaving, [leaving, ...others], addresses), expected))
}
