import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flagsDue } from './adapt-flags.ts'

const mb = 1024 * 1024

test('flags are told once, when their time has come', () => {
  assert.deepEqual(flagsDue({ resident: 120 * mb, workedMs: 1000 }), [])
  assert.deepEqual(flagsDue({ resident: 700 * mb, workedMs: 2000 }), ['--external-memory-accounted-in-global-limit'])
  assert.deepEqual(flagsDue({ resident: 200 * mb, workedMs: 3000 }), [])
  assert.deepEqual(flagsDue({ resident: 800 * mb, workedMs: 21_000 }), [
    '--turbofan',
    '--invocation-count-for-turbofan=3000',
  ])
  assert.deepEqual(flagsDue({ resident: 900 * mb, workedMs: 99_000 }), [])
})
