import assert from 'node:assert/strict'
import test from 'node:test'
import { classConfigurations, type DeviceClaim, deviceClaimRules, selectorRules } from './claims.ts'
import { attributeName } from './names.ts'

const told = (devices: object): string[] =>
  deviceClaimRules(devices as DeviceClaim, 'd').map(({ field, message }) => `${field}: ${message}`)
const exactly = (over: object = {}): object => ({
  deviceClassName: 'c',
  allocationMode: 'ExactCount',
  count: 1,
  ...over,
})

test('a claim asks for devices that can be found', () => {
  assert.deepEqual(
    told({
      requests: [{ name: 'a', exactly: exactly({ selectors: [{ cel: { expression: 'device.driver == "x"' } }] }) }],
    }),
    [],
  )
  assert.deepEqual(
    told({ requests: [{ name: 'a', exactly: exactly({ selectors: [{}, { cel: { expression: '1' } }] }) }] }),
    [
      'd.requests[0].exactly.selectors[0].cel: Required value',
      'd.requests[0].exactly.selectors[1].cel.expression: Invalid value: "1": must evaluate to bool or the ' +
        'unknown type, not int',
    ],
  )
  assert.match(
    told({ requests: [{ name: 'a', exactly: exactly({ selectors: [{ cel: { expression: 'foo' } }] }) }] })[0] ?? '',
    /compilation failed: .*undeclared reference/,
  )
  assert.deepEqual(told({ requests: [{ name: 'a', exactly: exactly({ allocationMode: 'x' }) }] }), [
    'd.requests[0].exactly.allocationMode: Unsupported value: "x": supported values: "All", "ExactCount"',
  ])
})

test('constraints and configurations are about requests that are there', () => {
  const requests = [{ name: 'a', firstAvailable: [{ name: 's', ...exactly() }] }]
  const words = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
  assert.deepEqual(told({ requests, constraints: [{ requests: ['a', 'a/s'], matchAttribute: 'a.b/c' }] }), [])
  assert.deepEqual(
    told({
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
  assert.deepEqual(told({ requests, constraints: [{ matchAttribute: 'c' }] }), [
    'd.constraints[0].matchAttribute: Invalid value: "c": a fully qualified name must be a domain and a name ' +
      'separated by a slash',
  ])
})

test('of a driver without a name it is said only that it is missing', () =>
  assert.deepEqual(
    classConfigurations(
      [{ opaque: { driver: '', parameters: {} } }, { opaque: { driver: '-', parameters: {} } }],
      'c',
    ).map(({ reason, field }) => `${field}: ${reason}`),
    ['c[0].opaque.driver: FieldValueRequired', 'c[1].opaque.driver: FieldValueInvalid'],
  ))

test('attributes have names of C, and a domain if it is not the driver', () => {
  assert.deepEqual(attributeName('dra.example.com/model_1', 'f'), [])
  assert.deepEqual(attributeName('a b', 'f').length, 1)
  assert.deepEqual(
    attributeName('/x', 'f').map(({ message }) => message),
    ['Invalid value: "": the domain must not be empty'],
  )
})

test('selectors are no programs', () => {
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
