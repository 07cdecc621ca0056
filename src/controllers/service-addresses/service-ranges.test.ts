import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IPAddress, ServiceCIDR } from '../../client/kinds.ts'
import { canDelete } from './service-ranges.ts'

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

const terminating = cidr('terminating', ['10.1.0.0/24', 'fd00::/112'], true)

const cases: { title: string; others?: ServiceCIDR[]; addresses?: IPAddress[]; expected: boolean }[] = [
  { title: 'a range without addresses', expected: true },
  { title: 'a range with an address', addresses: [address('10.1.0.7')], expected: false },
  { title: 'a range with an address of its other family', addresses: [address('fd00::7')], expected: false },
  { title: 'addresses of other ranges do not count', addresses: [address('10.2.0.7')], expected: true },
  { title: 'addresses of other managers do not count', addresses: [address('10.1.0.7', 'somebody')], expected: true },
  {
    title: 'a range within another',
    others: [cidr('outer', ['10.0.0.0/8', 'fd00::/64'])],
    addresses: [address('10.1.0.7')],
    expected: true,
  },
  {
    title: 'addresses within another range',
    others: [cidr('inner', ['10.1.0.0/28'])],
    addresses: [address('10.1.0.7')],
    expected: true,
  },
  {
    title: 'addresses outside of the other range',
    others: [cidr('inner', ['10.1.0.0/28'])],
    addresses: [address('10.1.0.77')],
    expected: false,
  },
  {
    title: 'another terminating range does not count',
    others: [cidr('outer', ['10.0.0.0/8'], true)],
    addresses: [address('10.1.0.7')],
    expected: false,
  },
]

for (const { title, others = [], addresses = [], expected } of cases) {
  test(`${title}: ${expected ? 'can be deleted' : 'is retained'}`, () =>
    assert.equal(canDelete(terminating, [terminating, ...others], addresses), expected))
}
