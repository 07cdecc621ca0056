import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OpaqueValue, OptionalValue } from '../../values.ts'
import { call, plain } from '../call.fixture.ts'

const wrong = (name: string, text: string): unknown => plain(call('format-validate', call(`format.${name}`), text))

test('valid texts have no errors', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['dns1123Label', 'my-label-name'],
    ['dns1123Subdomain', 'apiextensions.k8s.io'],
    ['dns1035Label', 'my-label-name'],
    ['qualifiedName', 'apiextensions.k8s.io/v1beta1'],
    ['dns1123LabelPrefix', 'my-label-prefix-'],
    ['dns1123SubdomainPrefix', 'mysubdomain.prefix.-'],
    ['dns1035LabelPrefix', 'my-label-prefix-'],
    ['labelValue', 'my-cool-label-Value'],
    ['uri', 'http://example.com'],
    ['uuid', '123e4567-e89b-12d3-a456-426614174000'],
    ['byte', 'aGVsbG8='],
    ['date', '2021-01-01'],
    ['datetime', '2021-01-01T00:00:00Z'],
  ]
  for (const [name, text] of cases) assert.equal(wrong(name, text), undefined, name)
})

test('invalid texts have error messages', () => {
  assert.deepEqual(wrong('dns1123Label', 'contains a space'), [
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and " +
      "end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
      "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
  ])
  assert.deepEqual(wrong('qualifiedName', 'contains a space'), [
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " +
      "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
      "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  ])
  assert.deepEqual(wrong('uri', '../relative-path'), ['parse "../relative-path": invalid URI for request'])
  assert.deepEqual(wrong('uuid', 'x'), ['does not match the UUID format'])
  assert.deepEqual(wrong('byte', 'aGVsbG8'), ['invalid base64'])
  assert.deepEqual(wrong('date', '2020-01-32'), ['invalid date'])
  assert.deepEqual(wrong('datetime', '2020-01-32T00:00:00Z'), ['invalid datetime'])
})

test('formats are found by name', () => {
  const named = call('format-named', 'dns1123Label')
  const format = call('format.dns1123Label')
  assert.ok(
    named instanceof OptionalValue &&
      named.value instanceof OpaqueValue &&
      format instanceof OpaqueValue &&
      named.value.equals(format),
  )
  assert.ok(!named.value.equals(call('format.uri') as OpaqueValue))
  assert.equal(plain(call('format-named', 'unknown')), undefined)
  assert.equal(plain(call('format-named', 'constructor')), undefined)
})
