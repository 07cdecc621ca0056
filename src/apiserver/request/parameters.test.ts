import assert from 'node:assert/strict'
import test from 'node:test'
import { StatusError } from '../../machinery/status-error.ts'
import { parseListVersion, parseResourceVersion } from './parameters.ts'

const refusal = (read: (text: string) => number, text: string): string => {
  try {
    return String(read(text))
  } catch (error) {
    assert.ok(error instanceof StatusError)
    return `${error.code} ${error.reason ?? 'no reason'}: ${error.message}`
  }
}

test('a version that is no number is a bad request of a list, and an internal error of a get or watch', () => {
  const why = 'resourceVersion: Invalid value: "old": strconv.ParseUint: parsing "old": invalid syntax'
  assert.equal(refusal(parseListVersion, 'old'), `400 BadRequest: invalid resource version: ${why}`)
  assert.equal(refusal(parseResourceVersion, 'old'), `500 no reason: ${why}`)
  for (const read of [parseListVersion, parseResourceVersion]) {
    assert.equal(refusal(read, ''), '0')
    assert.equal(refusal(read, '7'), '7')
  }
})
