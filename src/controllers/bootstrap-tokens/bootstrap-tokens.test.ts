import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import type { Secret } from '../../client/kinds.ts'
import { detachedSignature, signedData } from './signatures.ts'
import { expiration, signingToken } from './token.ts'

const now = Date.parse('2026-01-01T00:00:00Z')

const secret = (fields: Record<string, string>, name = 'bootstrap-token-abcdef'): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  data: Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [field, Buffer.from(value).toString('base64')]),
  ),
})
const fields = { 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', 'usage-bootstrap-signing': 'true' }

test('a token expires at its expiration, and an unreadable one has expired', () => {
  assert.equal(expiration(secret(fields)), Number.POSITIVE_INFINITY)
  assert.equal(expiration(secret({ ...fields, expiration: '2026-01-01T01:00:00+01:00' })), now)
  assert.equal(expiration(secret({ ...fields, expiration: 'tomorrow' })), 0)
})

test('signingToken requires the usage, a matching name and no expiry', () => {
  assert.deepEqual(signingToken(secret(fields), now), { id: 'abcdef', secret: '0123456789abcdef' })
  assert.equal(signingToken(secret(fields, 'bootstrap-token-other0'), now), undefined)
  assert.equal(signingToken(secret({ ...fields, 'usage-bootstrap-signing': 'false' }), now), undefined)
  assert.equal(signingToken(secret({ ...fields, expiration: '2025-12-31T23:59:59Z' }), now), undefined)
  assert.equal(signingToken(secret({ 'token-id': 'abcdef', 'usage-bootstrap-signing': 'true' }), now), undefined)
})

test('a detached signature omits the payload', () => {
  const signature = detachedSignature('content', { id: 'abcdef', secret: 'key' })
  const [header = '', payload, proof] = signature.split('.')
  assert.equal(Buffer.from(header, 'base64url').toString(), '{"alg":"HS256","kid":"abcdef"}')
  assert.equal(payload, '')
  assert.equal(
    proof,
    createHmac('sha256', 'key')
      .update(`${header}.${Buffer.from('content').toString('base64url')}`)
      .digest('base64url'),
  )
})

test('cluster-info gets the signatures of its tokens and no others', () => {
  const token = { id: 'abcdef', secret: 'key' }
  const signed = signedData({ kubeconfig: 'c', 'jws-kubeconfig-gone00': 'x', other: 'stays' }, [token])
  assert.deepEqual(signed, { kubeconfig: 'c', other: 'stays', 'jws-kubeconfig-abcdef': detachedSignature('c', token) })
  assert.equal(signedData(signed!, [token]), undefined)
  assert.equal(signedData({ other: 'x' }, [token]), undefined)
})
