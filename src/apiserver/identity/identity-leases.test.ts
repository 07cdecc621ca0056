import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isExpired } from './identity-leases.ts'
import { serverId } from './server-id.ts'

test('the identity of a server has the form of upstream, and depends on the host', () => {
  assert.match(serverId('node-1'), /^apiserver-[a-z2-7]{26}$/)
  assert.equal(serverId('node-1'), serverId('node-1'))
  assert.notEqual(serverId('node-1'), serverId('node-2'))
})

test('a lease is expired when it was not renewed in time, or is incomplete', () => {
  const lease = { holderIdentity: 'a', leaseDurationSeconds: 10, renewTime: '2026-01-01T00:00:00.000000Z' }
  const renewed = Date.parse('2026-01-01T00:00:00Z')
  assert.equal(isExpired(lease, renewed + 10_000), false)
  assert.equal(isExpired(lease, renewed + 10_001), true)
  assert.equal(isExpired({ ...lease, holderIdentity: '' }, renewed), true)
  assert.equal(isExpired(undefined, renewed), true)
})
