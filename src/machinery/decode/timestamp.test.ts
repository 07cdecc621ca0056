import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalTime } from './timestamp.ts'

test('times are converted to UTC, with seconds or six fractional digits', () => {
  assert.equal(canonicalTime('2020-02-29T23:59:59Z', false), '2020-02-29T23:59:59Z')
  assert.equal(canonicalTime('2020-01-01T00:30:00.999-01:30', false), '2020-01-01T02:00:00Z')
  assert.equal(canonicalTime('2020-01-01T00:00:00.000001+01:00', true), '2019-12-31T23:00:00.000001Z')
})

test("Go's zero time counts as absent", () => {
  assert.equal(canonicalTime('0001-01-01T00:00:00Z', false), '')
  assert.equal(canonicalTime('0001-01-01T00:00:00.000000Z', true), '')
})

test("an invalid time fails with the message of Go's parser", () => {
  const layout = '2006-01-02T15:04:05Z07:00'
  const cases: [string, string][] = [
    ['2020-01-01', `parsing time "2020-01-01" as "${layout}": cannot parse "" as "T"`],
    ['2020-01-01 00:00:00', `parsing time "2020-01-01 00:00:00" as "${layout}": cannot parse " 00:00:00" as "T"`],
    ['2020-13-01T00:00:00Z', 'parsing time "2020-13-01T00:00:00Z": month out of range'],
    ['2021-02-29T00:00:00Z', 'parsing time "2021-02-29T00:00:00Z": day out of range'],
    ['2020-01-01T25:00:00Z', 'parsing time "2020-01-01T25:00:00Z": hour out of range'],
    ['2020-01-01T00:00:00', `parsing time "2020-01-01T00:00:00" as "${layout}": cannot parse "" as "Z07:00"`],
    ['2020-01-01T00:00:00Zz', 'parsing time "2020-01-01T00:00:00Zz": extra text: "z"'],
  ]
  for (const [text, message] of cases) assert.throws(() => canonicalTime(text, false), { message })
  assert.throws(() => canonicalTime('2020-01-01T00:00:00Z', true), {
    message: 'parsing time "2020-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
  })
})

test('the error for a long invalid time is short', () => {
  assert.throws(
    () => canonicalTime('\n'.repeat(1_000_000), false),
    (error: Error) => error.message.length < 6000 && error.message.startsWith('parsing time "'),
  )
})
