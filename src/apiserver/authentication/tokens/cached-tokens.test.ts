import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import type { TokenVerdict } from '../token-authenticator.ts'
import { tokenCacheMetrics } from './cache-metrics.ts'
import { cachedTokens } from './cached-tokens.ts'
import { firstOf } from './first-of.ts'

const jane = { user: { name: 'jane', groups: [] } }

test('users and unknown tokens are cached for their time, rejections are not', async () => {
  let [now, asked]: [number, string[]] = [0, []]
  const registry = new MetricsRegistry()
  const verdicts: Readonly<Record<string, TokenVerdict>> = { jane, bad: { refused: 'out of order' } }
  const authenticate = async (token: string): Promise<TokenVerdict> => {
    asked.push(token)
    return verdicts[token]
  }
  const tokens = cachedTokens(
    { name: 'slow', authenticate },
    { knownMs: 10_000, unknownMs: 5000, metrics: tokenCacheMetrics(registry), now: () => now },
  )
  const ask = async (): Promise<readonly TokenVerdict[]> => [
    await tokens.authenticate('jane', ['a']),
    await tokens.authenticate('bad', ['a']),
    await tokens.authenticate('nobody', ['a']),
  ]
  const expected = [jane, { refused: 'out of order' }, undefined]
  const askedAt = async (at: number): Promise<readonly string[]> => {
    now = at
    asked = []
    assert.deepEqual(await ask(), expected)
    return asked
  }
  assert.deepEqual(await askedAt(0), ['jane', 'bad', 'nobody'])
  assert.deepEqual(await askedAt(4999), ['bad'])
  assert.deepEqual(await askedAt(9999), ['bad', 'nobody'])
  assert.deepEqual(await askedAt(10_000), ['jane', 'bad'])
  const told = registry.render()
  for (const line of [
    'authentication_token_cache_request_total{status="hit"} 4',
    'authentication_token_cache_request_total{status="miss"} 8',
    'authentication_token_cache_request_duration_seconds_count{status="miss"} 8',
    'authentication_token_cache_fetch_total{status="ok"} 4',
    'authentication_token_cache_fetch_total{status="error"} 4',
    'authentication_token_cache_active_fetch_count{status="blocked"} 0',
    'authentication_token_cache_active_fetch_count{status="in_flight"} 0',
  ])
    assert.ok(told.includes(`${line}\n`), `${line} in ${told}`)
})

test('the cache distinguishes audiences', async () => {
  const asked: string[] = []
  const authenticate = async (_token: string, audiences: readonly string[]): Promise<TokenVerdict> => {
    asked.push(audiences.join())
    return jane
  }
  const tokens = cachedTokens(
    { name: 'slow', authenticate },
    { knownMs: 10_000, metrics: tokenCacheMetrics(new MetricsRegistry()) },
  )
  for (const audience of ['a', 'b', 'a']) await tokens.authenticate('t', [audience])
  assert.deepEqual(asked, ['a', 'b'])
})

test('the first authenticator that knows a token decides; otherwise all reasons are returned', async () => {
  const saying = (verdict: TokenVerdict) => ({ name: 'x', authenticate: () => verdict })
  const verdictOf = async (...verdicts: readonly TokenVerdict[]) =>
    firstOf('all', verdicts.map(saying)).authenticate('t', [])
  assert.deepEqual(await verdictOf(undefined, { refused: 'a' }, jane), jane)
  assert.deepEqual(await verdictOf({ refused: 'a' }, undefined, { refused: 'b' }), { refused: '[a, b]' })
  assert.deepEqual(await verdictOf({ refused: 'a' }), { refused: 'a' })
  assert.equal(await verdictOf(undefined), undefined)
})
