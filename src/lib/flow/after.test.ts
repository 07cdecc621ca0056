import assert from 'node:assert/strict'
import { test } from 'node:test'
import { after } from './after.ts'

test('a plain value is passed on synchronously', () => {
  assert.equal(
    after(1, (value) => value + 1),
    2,
  )
  assert.throws(
    () =>
      after(1, () => {
        throw new Error('no')
      }),
    /no/,
  )
})

test('a promise is awaited', async () => {
  assert.equal(await after(Promise.resolve(1), (value) => value + 1), 2)
  await assert.rejects(Promise.resolve(after(Promise.reject(new Error('no')), () => 0)), /no/)
})
