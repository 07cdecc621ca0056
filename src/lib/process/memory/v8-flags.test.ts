import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flagsKnownTo } from './v8-flags.ts'

test('V8 gets only the flags that its version of Node knows', () => {
  const flags = ['--no-turbofan', '--no-memory-reducer-favors-memory', '--external-memory-accounted-in-global-limit']
  assert.deepEqual(flagsKnownTo('22.12.0', flags), ['--no-turbofan'])
  assert.deepEqual(flagsKnownTo('24.21.0', flags), flags)
  assert.deepEqual(flagsKnownTo('26.12.1', flags), ['--no-turbofan', '--external-memory-accounted-in-global-limit'])
  assert.deepEqual(flagsKnownTo('40.0.0', flags), [])
})
