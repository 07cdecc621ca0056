import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expiryOf } from './cleaner.ts'
import type { SigningRequest } from './signing-request.ts'

const created = '2026-01-01T00:00:00Z'
const hours = (count: number): number => Date.parse(created) + count * 3600 * 1000
const request = (type?: string, certificate?: string): SigningRequest => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name: 'c', creationTimestamp: created },
  spec: { request: '', signerName: 's' },
  status: {
    ...(type && { conditions: [{ type, status: 'True', lastUpdateTime: '2026-01-01T02:00:00Z' }] }),
    ...(certificate && { certificate }),
  } as SigningRequest['status'],
})

test('requests expire an hour after a decision, or a day after creation without one', () => {
  assert.equal(expiryOf(request()), hours(24))
  assert.equal(expiryOf(request('Denied')), hours(3))
  assert.equal(expiryOf(request('Failed')), hours(3))
  assert.equal(expiryOf(request('Approved', 'bm90aGluZw==')), hours(3))
})

test('an approved but unsigned request does not expire', () => {
  assert.equal(expiryOf(request('Approved')), Number.POSITIVE_INFINITY)
})
