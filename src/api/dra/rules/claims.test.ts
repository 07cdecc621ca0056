import assert from 'node:assert/strict'
import test from 'node:test'
import { classConfigurations, type DeviceClaim, deviceClaimRules, selectorRules } from './claims.ts'
import { attributeName } from './names.ts'

const errorsOf = (devices: object): string[] =>
  deviceClaimRules(devices as DeviceClaim, 'd').map(({ field, message }) => `${field}: ${message}`)
const exactly = (over: object = {}): object => ({
  deviceClassName: 'c',
  allocationMode: 'ExactCount',
  count: 1,
  ...over,
})

test('requests of a claim are validated', () => {
  assert.deepEqual(
    errorsOf({
      requests: [{ name: 'a', exactly: exactly({ selectors: [{ cel: { expression: 'device.driver == "x"' } }] }) }],
    }),
    [],
  )
  assert.deepEqual(
    errorsOf({ requests: [{ name: 'a', exactly: exactly({ selectors: [{}, { cel: { expression: '1' } }] }) }] }),
    [
      'd.requests[0].exactly.selectors[0].cel: Required value',
      'd.requests[0].exactly.selectors[1].cel.expression: Invalid value: "1": must evaluate to bool or the ' +
        'unknown type, not int',
    ],
  )
  assert.match(
    errorsOf({ requests: [{ name: 'a', exactly: exactly({ selectors: [{ cel: { expression: 'foo' } }] }) }] })[0] ?? '',
    /compilation failed: .*undeclared reference/,
  )
  assert.deepEqual(errorsOf({ requests: [{ name: 'a', exactly: exactly({ allocationMode: 'x' }) }] }), [
    'd.requests[0].exactly.allocationMode: Unsupported value: "x": supported values: "All", "ExactCount"',
  ])
})

test('constraints and configurations must refer to existing requests', () => {
  const requests = [{ name: 'a', firstAvailable: [{ name: 's', ...exactly() }] }]
  const words = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
  assert.deepEqual(errorsOf({ requests, constraints: [{ requests: ['a', 'a/s'], matchAttribute: 'a.b/c' }] }), [])
  assert.deepEqual(
    errorsOf({
      requests,
      constraints: [{ requests: ['q', 'a/b/c'] }],
      config: [{ requests: ['a', 'a'], opaque: { driver: 'd', parameters: [] } }],
    }),
    [
      `d.constraints[0].requests[0]: Invalid value: "q": ${words}`,
      `d.constraints[0].requests[1]: Invalid value: "a/b/c": ${words}`,
      'd.constraints[0]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is required, but ' +
        'multiple fields are set',
      'd.config[0].requests[1]: Duplicate value: "a"',
      'd.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object',
    ],
  )
  assert.deepEqual(errorsOf({ requests, constraints: [{ matchAttribute: 'c' }] }), [
    'd.constraints[0].matchAttribute: Invalid value: "c": a fully qualified name must be a domain and a name ' +
      'separated by a slash',
  ])
})

test('a missing driver name is reported as required only', () =>
  assert.deepEqual(
    classConfigurations(
      [{ opaque: { driver: '', parameters: {} } }, { opaque: { driver: '-', parameters: {} } }],
      'c',
    ).map(({ reason, field }) => `${field}: ${reason}`),
    ['c[0].opaque.driver: FieldValueRequired', 'c[1].opaque.driver: FieldValueInvalid'],
  ))

test('attribute names are C identifiers with an optional domain', () => {
  assert.deepEqual(attributeName('dra.example.com/model_1', 'f'), [])
  assert.deepEqual(attributeName('a b', 'f').length, 1)
  assert.deepEqual(
    attributeName('/x', 'f').map(({ message }) => message),
    ['Invalid value: "": the domain must not be empty'],
  )
})

test('the length and cost of selectors are limited', () => {
  assert.equal(
    selectorRules(
      Array.from({ length: 33 }, () => ({ cel: { expression: 'true' } })),
      's',
    ).length,
    1,
  )
  const long = `"${'x'.repeat(11 * 1024)}" == ""`
  assert.deepEqual(
    selectorRules([{ cel: { expression: long } }], 's').map(({ message }) => message),
    ['Too long: may not be more than 10240 bytes'],
  )
})
