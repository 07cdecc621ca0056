import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endOf } from './cleaner.ts'
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

test('requests go an hour after they were decided, or a day after nobody has decided', () => {
  assert.equal(endOf(request()), hours(24))
  assert.equal(endOf(request('Denied')), hours(3))
  assert.equal(endOf(request('Failed')), hours(3))
  assert.equal(endOf(request('Approved', 'bm90aGluZw==')), hours(3))
})

test('one that is approved and not signed waits for its signer', () => {
  assert.equal(endOf(request('Approved')), Number.POSITIVE_INFINITY)
})
