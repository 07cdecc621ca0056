import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OpaqueValue, type Value } from '../values.ts'
import { call, faultOf } from './call.fixture.ts'

const version = (text: string): Value => call('string_to_semver', text)

test('versions have parts and are ordered', () => {
  assert.deepEqual(
    ['semver_major', 'semver_minor', 'semver_patch'].map((id) => call(id, version('1.2.3-beta.1+build.1'))),
    [1n, 2n, 3n],
  )
  assert.equal(call('semver_is_less_than', version('1.0.0'), version('1.2.3')), true)
  assert.equal(call('semver_is_greater_than', version('1.0.0'), version('1.0.0')), false)
  assert.equal(call('semver_compare_to', version('1.2.3'), version('1.0.0')), 1n)
})

test('isSemver requires three numbers, unless it normalizes', () => {
  for (const text of ['', 'v1.0.0', ' 1.0.0', '1. 0.0', '1.0.0 ', '01.01.01', '1', '1.1'])
    assert.equal(call('is_semver_string', text), false, text)
  for (const text of ['v1.0.0', '01.01.01', '1', '1.1'])
    assert.equal(call('is_semver_string_bool', text, true), true, text)
  for (const text of ['', ' 1.0.0', '1. 0.0', '1.0.0 '])
    assert.equal(call('is_semver_string_bool', text, true), false, text)
  assert.equal(call('is_semver_string_bool', 'v1.0.0', false), false)
  const [a, b] = [call('string_bool_to_semver', 'v01.01', true), version('1.1.0')]
  assert.ok(a instanceof OpaqueValue && b instanceof OpaqueValue && a.equals(b))
  assert.equal(
    faultOf(() => version('v1.0')),
    'No Major.Minor.Patch elements found',
  )
})
