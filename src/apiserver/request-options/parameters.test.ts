import assert from 'node:assert/strict'
import test from 'node:test'
import { StatusError } from '../../machinery/status-error.ts'
import { int64Parameter, integerParameter, parseListVersion, parseResourceVersion } from './parameters.ts'

const refusal = (read: (text: string) => number, text: string): string => {
  try {
    return String(read(text))
  } catch (error) {
    assert.ok(error instanceof StatusError)
    return `${error.code} ${error.reason ?? 'no reason'}: ${error.message}`
  }
}

test('a version that is no number is 400 for a list, and 500 for a get or watch', () => {
  const why = 'resourceVersion: Invalid value: "old": strconv.ParseUint: parsing "old": invalid syntax'
  assert.equal(refusal(parseListVersion, 'old'), `400 BadRequest: invalid resource version: ${why}`)
  assert.equal(refusal(parseResourceVersion, 'old'), `500 no reason: ${why}`)
  for (const read of [parseListVersion, parseResourceVersion]) {
    assert.equal(refusal(read, ''), '0')
    assert.equal(refusal(read, '7'), '7')
  }
})

test('64-bit integers keep all digits in stored values', () => {
  const query = new URLSearchParams(
    'most=9223372036854775807&least=-9223372036854775808&few=%2B30&more=9223372036854775808&none=',
  )
  assert.equal(int64Parameter(query, 'most'), 2n ** 63n - 1n)
  assert.equal(int64Parameter(query, 'least'), -(2n ** 63n))
  assert.equal(int64Parameter(query, 'few'), 30)
  assert.equal(int64Parameter(query, 'none'), undefined)
  assert.equal(integerParameter(query, 'most'), 2 ** 63)
  assert.throws(() => int64Parameter(query, 'more'), {
    code: 400,
    message: 'strconv.ParseInt: parsing "9223372036854775808": value out of range',
  })
})
