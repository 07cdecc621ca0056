import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flagsDue } from './adapt-flags.ts'

const mb = 1024 * 1024

test('each flag is returned once, when it is due', () => {
  assert.deepEqual(flagsDue({ resident: 120 * mb, cpuMs: 1000 }), [])
  assert.deepEqual(flagsDue({ resident: 700 * mb, cpuMs: 2000 }), ['--external-memory-accounted-in-global-limit'])
  assert.deepEqual(flagsDue({ resident: 200 * mb, cpuMs: 3000 }), [])
  assert.deepEqual(flagsDue({ resident: 800 * mb, cpuMs: 21_000 }), [
    '--turbofan',
    '--invocation-count-for-turbofan=3000',
  ])
  assert.deepEqual(flagsDue({ resident: 900 * mb, cpuMs: 99_000 }), [])
})
