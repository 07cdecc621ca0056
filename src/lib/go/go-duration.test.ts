import assert from 'node:assert/strict'
import { test } from 'node:test'
import { goDuration, goDurationMs } from './go-duration.ts'

test('durations are formatted and parsed as in Go', () => {
  const shown: readonly (readonly [ms: number, text: string])[] = [
    [0, '0s'],
    [1.5, '1.5ms'],
    [501.000001, '501.000001ms'],
    [1234.567, '1.234567s'],
    [60_000, '1m0s'],
    [3_723_004, '1h2m3.004s'],
    [-500, '-500ms'],
  ]
  for (const [ms, text] of shown) {
    assert.equal(goDuration(ms), text)
    assert.ok(Math.abs(goDurationMs(text) - ms) < 1e-6, text)
  }
})
