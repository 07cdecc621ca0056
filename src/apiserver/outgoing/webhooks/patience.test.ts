import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { patiently } from './patience.ts'
import { WebhookAnswerError } from './webhook-client.ts'

const { signal } = new AbortController()

/** How often a webhook is called that always fails so, and for how long, ms. */
async function callsUntil(error: Error, backoffMs = 1): Promise<{ readonly calls: number; readonly tookMs: number }> {
  let calls = 0
  const started = performance.now()
  const fail = async (): Promise<never> => {
    calls++
    throw error
  }
  await assert.rejects(patiently(fail, { signal, backoffMs }), error)
  return { calls, tookMs: performance.now() - started }
}

describe('a webhook is asked', () => {
  const answered = (status: number, retryAfterMs?: number) => new WebhookAnswerError('no', status, retryAfterMs)
  const cases: readonly (readonly [string, Error, number])[] = [
    ...[429, 500, 501, 502, 504, 507].map(
      (status) => [`five times where it answers ${status}`, answered(status), 5] as const,
    ),
    ...[400, 401, 403, 404, 503].map((status) => [`once where it answers ${status}`, answered(status), 1] as const),
    ['again where it says when', answered(503, 0), 5],
    ['again where it hangs up', new Error('Post "https://w": EOF'), 5],
    ['once where it is too slow', new Error('Post "https://w": context deadline exceeded'), 1],
    ['once where it would have us wait for an hour', answered(429, 3_600_000), 1],
  ]
  for (const [title, error, calls] of cases)
    test(title, async () => assert.equal((await callsUntil(error)).calls, calls))

  test('not before it wants to be', async () => {
    const { calls, tookMs } = await callsUntil(answered(429, 20))
    assert.equal(calls, 5)
    assert.ok(tookMs >= 4 * 19, `${tookMs}`)
  })
})
