import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settle } from './settle.ts'

const told = (start: () => number | Promise<number>): string | Promise<string> =>
  settle(
    start,
    (value) => `done ${value}`,
    (error) => `failed ${(error as Error).message}`,
  )

test('what is there or thrown is told at once', () => {
  assert.equal(
    told(() => 1),
    'done 1',
  )
  assert.equal(
    told(() => {
      throw new Error('no')
    }),
    'failed no',
  )
})

test('what is to come is told when it has', async () => {
  const answer = told(async () => 1)
  assert.ok(answer instanceof Promise)
  assert.equal(await answer, 'done 1')
  assert.equal(await told(() => Promise.reject(new Error('no'))), 'failed no')
})

test('what is thrown in turn is nobody’s second outcome', () => {
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
