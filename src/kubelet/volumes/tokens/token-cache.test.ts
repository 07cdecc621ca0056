import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TokenCache, type TokenSpec } from './token-cache.ts'

const minuteMs = 60_000
const spec = (expirationSeconds: number, fields: Partial<TokenSpec> = {}): TokenSpec => ({
  audiences: ['api'],
  expirationSeconds,
  boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'u1' },
  ...fields,
})

function testCache(random = 0) {
  const state = { nowMs: 1_000_000_000_000, issued: 0, failure: undefined as Error | undefined, lines: [] as string[] }
  const cache = new TokenCache({
    async request(_namespace, _account, { expirationSeconds }) {
      if (state.failure) throw state.failure
      const expirationTimestamp = new Date(state.nowMs + expirationSeconds * 1000).toISOString()
      return { token: `token-${++state.issued}`, expirationTimestamp }
    },
    now: () => state.nowMs,
    random: () => random,
    log: (line) => void state.lines.push(line),
  })
  const token = (seconds = 3600) => cache.token('default', 'builder', spec(seconds))
  return { state, cache, token }
}

test('a token is renewed at 80 % of its life', async () => {
  const { state, token } = testCache()
  assert.equal(await token(), 'token-1')
  state.nowMs += 48 * minuteMs
  assert.equal(await token(), 'token-1')
  state.nowMs += 1
  assert.equal(await token(), 'token-2')
})

test('a token of a long life is renewed after a day', async () => {
  const { state, token } = testCache()
  const year = 365 * 24 * 3600
  await token(year)
  state.nowMs += 24 * 60 * minuteMs
  assert.equal(await token(year), 'token-1')
  state.nowMs += 1
  assert.equal(await token(year), 'token-2')
})

test('renewals of many pods are spread over ten seconds', async () => {
  const { state, token } = testCache(0.9)
  await token()
  state.nowMs += 48 * minuteMs - 9_000
  assert.equal(await token(), 'token-1')
  state.nowMs += 1
  assert.equal(await token(), 'token-2')
})

test('a token from the future is renewed', async () => {
  const { state, token } = testCache()
  await token()
  state.nowMs -= 1
  assert.equal(await token(), 'token-2')
})

test('while it cannot be renewed, a token is used until it expires', async () => {
  const { state, token } = testCache()
  await token()
  state.failure = new Error('connection refused')
  state.nowMs += 59 * minuteMs
  assert.equal(await token(), 'token-1')
  assert.match(state.lines[0]!, /connection refused/)
  state.nowMs += 2 * minuteMs
  await assert.rejects(token(), {
    message:
      'token "builder"/"default"/[]string{"api"}/3600/' +
      'v1.BoundObjectReference{Kind:"Pod", APIVersion:"v1", Name:"web", UID:"u1"} ' +
      'expired and refresh failed: connection refused',
  })
})

test('without a token, the failure is the one of the request', async () => {
  const { state, token } = testCache()
  state.failure = new Error('serviceaccounts "builder" not found')
  await assert.rejects(token(), { message: 'failed to fetch token: serviceaccounts "builder" not found' })
})

test('pods, audiences and lives have tokens of their own', async () => {
  const { cache } = testCache()
  const other = { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'u2' }
  const specs = [spec(3600), spec(7200), spec(3600, { audiences: undefined }), spec(3600, { boundObjectRef: other })]
  const tokens = await Promise.all(specs.map((one) => cache.token('default', 'builder', one)))
  assert.equal(new Set(tokens).size, 4)
})

test('the tokens of an ended pod are forgotten', async () => {
  const { cache, token } = testCache()
  await token()
  cache.forget('u2')
  assert.equal(await token(), 'token-1')
  cache.forget('u1')
  assert.equal(await token(), 'token-2')
})
