import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectionLost } from '../connection-lost.ts'
import { pauseBefore, withRetries } from './retries.ts'

const calm = (): number => 0
const answer = (status: number, retryAfter?: string) => ({ status, retryAfter })

test('who is told when to come again comes then, whatever was asked', () => {
  assert.equal(pauseBefore(answer(429, '2'), 0, false), 2000)
  assert.equal(pauseBefore(answer(503, '1'), 9, false), 1000)
  assert.equal(pauseBefore(answer(500, '0'), 0, false), 0)
  assert.equal(pauseBefore(answer(429, '3600'), 0, false), 60_000)
  assert.equal(pauseBefore(answer(429, '1'), 10, true), undefined)
  assert.equal(pauseBefore(answer(409, '1'), 0, true), undefined)
})

test('without a word of when, only what does no harm twice is asked again, and only of gateways', () => {
  assert.equal(pauseBefore(answer(429), 0, true, calm), undefined)
  assert.equal(pauseBefore(answer(500), 0, true, calm), undefined)
  assert.equal(pauseBefore(answer(503), 0, false, calm), undefined)
  assert.equal(pauseBefore(answer(502), 1, true, calm), 200)
})

test('a request whose connection was lost goes out again if the server cannot have seen it, or if it does no harm', () => {
  assert.equal(pauseBefore(new ConnectionLost('gone', true), 0, false, calm), undefined)
  assert.equal(pauseBefore(new ConnectionLost('gone', false), 0, false, calm), 100)
  assert.equal(pauseBefore(new ConnectionLost('gone', true), 2, true, calm), 400)
  assert.equal(pauseBefore(new ConnectionLost('gone', false), 3, true, calm), undefined)
  assert.equal(pauseBefore(new Error('a bug'), 0, true, calm), undefined)
})

test('attempts end with the first outcome that is final', async () => {
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

test('the last of several answers says whether an earlier sending may have been acted on', async () => {
  const maybeDone = async (
    ...outcomes: readonly (Error | ReturnType<typeof answer>)[]
  ): Promise<string | undefined> => {
    const left = [...outcomes]
    const attempt = async () => {
      const outcome = left.shift()!
      if (outcome instanceof Error) throw outcome
      return outcome
    }
    return (await withRetries(attempt, { repeatable: true })).maybeDone?.message
  }
  assert.equal(await maybeDone(answer(409)), undefined)
  assert.equal(await maybeDone(answer(429, '0'), new ConnectionLost('never there', false), answer(409)), undefined)
  assert.equal(await maybeDone(new ConnectionLost('gone', true), answer(503, '0'), answer(409)), 'gone')
  assert.equal(await maybeDone(answer(502), answer(409)), 'the server answered 502 before')
})
