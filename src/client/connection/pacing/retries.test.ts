import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectionLost } from '../connection-lost.ts'
import { retryDelayMs, withRetries } from './retries.ts'

const noJitter = (): number => 0
const answer = (status: number, retryAfter?: string) => ({ status, retryAfter })

test('any request is retried after the time in Retry-After', () => {
  assert.equal(retryDelayMs(answer(429, '2'), 0, false), 2000)
  assert.equal(retryDelayMs(answer(503, '1'), 9, false), 1000)
  assert.equal(retryDelayMs(answer(500, '0'), 0, false), 0)
  assert.equal(retryDelayMs(answer(429, '3600'), 0, false), 60_000)
  assert.equal(retryDelayMs(answer(429, '1'), 10, true), undefined)
  assert.equal(retryDelayMs(answer(409, '1'), 0, true), undefined)
})

test('without Retry-After, only repeatable requests with gateway errors are retried', () => {
  assert.equal(retryDelayMs(answer(429), 0, true, noJitter), undefined)
  assert.equal(retryDelayMs(answer(500), 0, true, noJitter), undefined)
  assert.equal(retryDelayMs(answer(503), 0, false, noJitter), undefined)
  assert.equal(retryDelayMs(answer(502), 1, true, noJitter), 200)
})

test('a lost connection is retried if the server cannot have seen the request, or if it is repeatable', () => {
  assert.equal(retryDelayMs(new ConnectionLost('gone', true), 0, false, noJitter), undefined)
  assert.equal(retryDelayMs(new ConnectionLost('gone', false), 0, false, noJitter), 100)
  assert.equal(retryDelayMs(new ConnectionLost('gone', true), 2, true, noJitter), 400)
  assert.equal(retryDelayMs(new ConnectionLost('gone', false), 3, true, noJitter), undefined)
  assert.equal(retryDelayMs(new Error('a bug'), 0, true, noJitter), undefined)
})

test('retries end with the first final outcome', async () => {
  const outcomes = [answer(429, '0'), new ConnectionLost('gone', false), answer(200)]
  let sent = 0
  const attempt = async () => {
    const outcome = outcomes[sent++]!
    if (outcome instanceof Error) throw outcome
    return outcome
  }
  assert.equal((await withRetries(attempt, { repeatable: false })).status, 200)
  assert.equal(sent, 3)
  await assert.rejects(
    withRetries(() => Promise.reject(new Error('a bug')), { repeatable: true }),
    /a bug/,
  )
})

test('the result contains an earlier attempt that the server may have applied', async () => {
  const ambiguousMessage = async (
    ...outcomes: readonly (Error | ReturnType<typeof answer>)[]
  ): Promise<string | undefined> => {
    const remaining = [...outcomes]
    const attempt = async () => {
      const outcome = remaining.shift()!
      if (outcome instanceof Error) throw outcome
      return outcome
    }
    return (await withRetries(attempt, { repeatable: true })).ambiguousAttempt?.message
  }
  assert.equal(await ambiguousMessage(answer(409)), undefined)
  assert.equal(
    await ambiguousMessage(answer(429, '0'), new ConnectionLost('never there', false), answer(409)),
    undefined,
  )
  assert.equal(await ambiguousMessage(new ConnectionLost('gone', true), answer(503, '0'), answer(409)), 'gone')
  assert.equal(await ambiguousMessage(answer(502), answer(409)), 'the server answered 502 to an earlier attempt')
})
