/** Fetching documents from a slow provider: every request ends at its deadline. */
import assert from 'node:assert/strict'
import { Agent } from 'node:https'
import test from 'node:test'
import { httpsGet } from '../../../src/apiserver/authentication/oidc/https-get.ts'
import { openIdProvider } from './oidc-provider.ts'

test('a request to a provider that hangs is aborted at the deadline', async (t) => {
  const provider = await openIdProvider(t)
  const agent = new Agent({ ca: provider.ca })
  t.after(() => agent.destroy())
  const get = (path: string) => httpsGet(provider.issuer + path, { agent, timeoutMs: 300, maxBytes: 1_000_000 })
  for (const manner of ['never', 'slowly without end'] as const) {
    provider.behave(manner, '/keys')
    await assert.rejects(get('/keys'), { message: `Get "${provider.issuer}/keys": context deadline exceeded` })
  }
})

test('only https is supported, and error responses are reported', async (t) => {
  const provider = await openIdProvider(t)
  const agent = new Agent({ ca: provider.ca })
  t.after(() => agent.destroy())
  const options = { agent, timeoutMs: 10_000, maxBytes: 1_000_000 }
  await assert.rejects(
    httpsGet('http://127.0.0.1/', options),
    /^Error: Get "http:\/\/127.0.0.1\/": unsupported protocol scheme "http": only https is$/,
  )
  await assert.rejects(httpsGet(`${provider.issuer}/nothing`, options), /^Error: 404 Not Found: $/)
  await assert.rejects(
    httpsGet(provider.issuer, { ...options, agent: new Agent() }),
    /x509: certificate signed by unknown authority$/,
  )
})
