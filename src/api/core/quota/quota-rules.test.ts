import assert from 'node:assert/strict'
import test from 'node:test'
import type { FieldError } from '../../../machinery/validation/field-error.ts'
import { limitRanges } from './limit-range.ts'
import { resourceQuotas } from './resource-quota.ts'

const errorMessages = (errors: readonly FieldError[] | undefined): string[] =>
  (errors ?? []).map(({ field, message }) => `${field}: ${message}`)
const quota = (spec: object): string[] =>
  errorMessages(resourceQuotas.validate?.object?.({ metadata: { name: 'q' }, spec } as never))
const limits = (item: object): string[] =>
  errorMessages(limitRanges.validate?.object?.({ metadata: { name: 'l' }, spec: { limits: [item] } } as never))

test('scopes of a quota must apply to its resources', () => {
  const selecting = (...matchExpressions: object[]) => ({
    hard: { pods: '1', 'count/configmaps': '1' },
    scopeSelector: { matchExpressions },
  })
  assert.deepEqual(quota(selecting({ scopeName: 'BestEffort', operator: 'Exists' })), [])
  assert.deepEqual(quota({ hard: { 'requests.ephemeral-storage': '1' }, scopes: ['Terminating'] }), [
    'spec.scopes: Invalid value: ["Terminating"]: unsupported scope applied to resource',
  ])
  const path = 'spec.scopeSelector.matchExpressions'
  assert.deepEqual(quota(selecting({ scopeName: 'PriorityClass', operator: 'Exists', values: ['a'] })), [
    `${path}.values: Invalid value: ["a"]: must be no value when \`operator\` is 'Exist' or 'DoesNotExist' for ` +
      'scope selector',
  ])
  assert.deepEqual(
    quota(
      selecting({ scopeName: 'BestEffort', operator: 'Exists' }, { scopeName: 'NotBestEffort', operator: 'Exists' }),
    ),
    [`${path}: Invalid value: null: conflicting scopes`],
  )
})

test('default and defaultRequest of a resource without overcommit must be equal', () => {
  const name = 'example.com/gpu'
  assert.deepEqual(limits({ type: 'Container', default: { [name]: '2' }, defaultRequest: { [name]: '1' } }), [
    `spec.limits[0].defaultRequest[${name}]: Invalid value: "1": default value 2 must equal to defaultRequest ` +
      `value 1 in ${name}`,
  ])
})
