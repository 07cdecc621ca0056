import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDurationMs } from './duration.ts'

test('parses durations in Go syntax', () => {
  assert.equal(parseDurationMs('5m'), 300_000)
  assert.equal(parseDurationMs('1h30m'), 5_400_000)
  assert.equal(parseDurationMs('1.5s'), 1500)
  assert.equal(parseDurationMs('250ms'), 250)
  assert.equal(parseDurationMs('0'), 0)
  assert.equal(parseDurationMs('0s'), 0)
})

test('a duration can have any number of parts', () => {
  assert.equal(parseDurationMs('1ms'.repeat(1_000_000)), 1_000_000)
  assert.equal(parseDurationMs(`${'1ms'.repeat(1_000_000)}!`), undefined)
})

test('returns undefined for invalid durations', () => {
  for (const text of ['', '5', '5 m', 'm', '-5s', '5d', '1h30']) assert.equal(parseDurationMs(text), undefined, text)
})
