/** How a document of a provider is read, against one that takes its time: everything ends at the deadline. */
import assert from 'node:assert/strict'
import { Agent } from 'node:https'
import test from 'node:test'
import { httpsGet } from '../../src/apiserver/authentication/oidc/https-get.ts'
import { openIdProvider } from './oidc-provider.ts'

test('a provider that never answers, or never ends, is given up at the deadline', async (t) => {
  const provider = await openIdProvider(t)
  const agent = new Agent({ ca: provider.ca })
  t.after(() => agent.destroy())
  const get = (path: string) => httpsGet(provider.issuer + path, { agent, timeoutMs: 300, mostBytes: 1_000_000 })
  for (const manner of ['never', 'slowly without end'] as const) {
    provider.behave(manner, '/keys')
    await assert.rejects(get('/keys'), { message: `Get "${provider.issuer}/keys": context deadline exceeded` })
  }
})

test('only https is spoken, and an answer that is none is told', async (t) => {
  const provider = await openIdProvider(t)
  const agent = new Agent({ ca: provider.ca })
  t.after(() => agent.destroy())
  const options = { agent, timeoutMs: 10_000, mostBytes: 1_000_000 }
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
