import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { WebhookAnswerError } from './client/answer-error.ts'
import { withRetries } from './retry.ts'

const { signal } = new AbortController()

/** The number of calls of a webhook that always fails with the error, and their total duration in ms. */
async function callsUntil(error: Error, backoffMs = 1): Promise<{ readonly calls: number; readonly tookMs: number }> {
  let calls = 0
  const started = performance.now()
  const fail = async (): Promise<never> => {
    calls++
    throw error
  }
  await assert.rejects(withRetries(fail, { signal, backoffMs }), error)
  return { calls, tookMs: performance.now() - started }
}

describe('a webhook is called', () => {
  const answered = (status: number, retryAfterMs?: number) => new WebhookAnswerError('no', status, retryAfterMs)
  const cases: readonly (readonly [string, Error, number])[] = [
    ...[429, 500, 501, 502, 504, 507].map(
      (status) => [`five times if it responds with ${status}`, answered(status), 5] as const,
    ),
    ...[400, 401, 403, 404, 503].map((status) => [`once if it responds with ${status}`, answered(status), 1] as const),
    ['again if it sends Retry-After', answered(503, 0), 5],
    ['again if it closes the connection', new Error('Post "https://w": EOF'), 5],
    ['once if it times out', new Error('Post "https://w": context deadline exceeded'), 1],
    ['once if Retry-After is an hour', answered(429, 3_600_000), 1],
  ]
  for (const [title, error, calls] of cases)
    test(title, async () => assert.equal((await callsUntil(error)).calls, calls))

  test('after Retry-After has passed', async () => {
    const { calls, tookMs } = await callsUntil(answered(429, 20))
    assert.equal(calls, 5)
    assert.ok(tookMs >= 4 * 19, `${tookMs}`)
  })
})
