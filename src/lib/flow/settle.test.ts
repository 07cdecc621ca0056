import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settle } from './settle.ts'

const outcome = (start: () => number | Promise<number>): string | Promise<string> =>
  settle(
    start,
    (value) => `done ${value}`,
    (error) => `failed ${(error as Error).message}`,
  )

test('values and errors are passed on synchronously', () => {
  assert.equal(
    outcome(() => 1),
    'done 1',
  )
  assert.equal(
    outcome(() => {
      throw new Error('no')
    }),
    'failed no',
  )
})

test('promises are awaited', async () => {
  const answer = outcome(async () => 1)
  assert.ok(answer instanceof Promise)
  assert.equal(await answer, 'done 1')
  assert.equal(await outcome(() => Promise.reject(new Error('no'))), 'failed no')
})

test('an error of a callback is thrown, not passed on', () => {
  const thrown = (): never => {
    throw new Error('later')
  }
  assert.throws(
    () =>
      settle(
        () => 1,
        thrown,
        () => assert.fail('it did not fail'),
      ),
    /later/,
  )
})
