import assert from 'node:assert/strict'
import test from 'node:test'
import { connectionError } from './connection-error.ts'

const failed = (code: string, message = code) =>
  connectionError(Object.assign(new Error(message), { code }), '10.0.0.1:443')

test("connection errors have Go's messages", () => {
  assert.equal(failed('ECONNREFUSED'), 'dial tcp 10.0.0.1:443: connect: connection refused')
  assert.equal(failed('ETIMEDOUT'), 'dial tcp 10.0.0.1:443: i/o timeout')
  assert.equal(failed('ECONNRESET', 'socket hang up'), 'EOF')
  assert.equal(
    failed('DEPTH_ZERO_SELF_SIGNED_CERT'),
    'tls: failed to verify certificate: x509: certificate signed by unknown authority',
  )
  assert.equal(
    connectionError(Object.assign(new Error(), { code: 'ENOTFOUND' }), 'a.example:80'),
    'dial tcp: lookup a.example: no such host',
  )
  assert.equal(connectionError('odd', 'a:1'), 'odd')
})
