/** Webhook calls that time out or whose client disconnects, on a reused connection. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { WebhookClient } from '../../../src/apiserver/outgoing/webhooks/index.ts'
import { issueCertificate, makeAuthority } from '../../../src/lib/x509/certificates.ts'

test('an aborted call is neither retried nor an unhandled rejection', async (t) => {
  const now = new Date()
  const authority = await makeAuthority('webhook-ca', now)
  const { cert, key } = await issueCertificate(
    authority,
    { commonName: 'w', usage: 'server', hosts: ['127.0.0.1'] },
    now,
  )
  let asked = 0
  // The first call is answered, so that its connection is reused; all others hang.
  const server = createServer({ cert, key }, (request, response) => {
    asked++
    request.resume()
    if (asked === 1) response.end('{}')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const caBundle = Buffer.from(authority.cert).toString('base64')
  const sources = undefined as never
  const client = new WebhookClient({ url: `https://127.0.0.1:${port}/hook`, caBundle }, { sources, timeoutMs: 150 })
  const unhandled: unknown[] = []
  const warnings: unknown[] = []
  const onRejection = (error: unknown): void => void unhandled.push(error)
  const onWarning = (warning: Error): void => void warnings.push(warning.message)
  process.on('unhandledRejection', onRejection)
  process.on('warning', onWarning)
  t.after(() => {
    process.off('unhandledRejection', onRejection)
    process.off('warning', onWarning)
    client.stop()
    server.closeAllConnections()
    server.close()
  })

  await client.post(Buffer.from('{}'))
  const gone = new AbortController()
  const late = client.post(Buffer.from('{}'), { signal: gone.signal })
  await assert.rejects(late, /context deadline exceeded/)
  // A retry would be cancelled here and reject a promise without a handler.
  await delay(20)
  gone.abort()
  await delay(20)
  assert.equal(asked, 2)
  assert.deepEqual(unhandled, [])
  assert.deepEqual(warnings, [])
})
