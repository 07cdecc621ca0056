import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Value } from '../values.ts'
import { AuthorizerValue, type CheckAuthorizer } from './authorizer.ts'
import { call, costOf, faultOf } from './call.fixture.ts'

/** An authorizer that allows everything for `admin` and records the checks. */
function recorder(user: string, checks: unknown[]): CheckAuthorizer {
  const decide = (check: object) => {
    checks.push({ user, ...check })
    return user === 'broken'
      ? { allowed: false, reason: '', error: 'no answer' }
      : { allowed: user === 'admin', reason: `${user} checks` }
  }
  return {
    checkPath: (path, verb) => decide({ path, verb }),
    checkResource: (resource, verb) => decide({ ...resource, verb }),
    serviceAccount: (namespace, name) => recorder(`${namespace}/${name}`, checks),
  }
}

const authorizer = (user: string, checks: unknown[] = []): Value => new AuthorizerValue(recorder(user, checks))

test('a check of a resource has all attributes of the expression', () => {
  const checks: unknown[] = []
  let check = call('groupcheck_resource', call('authorizer_group', authorizer('admin', checks), 'apps'), 'deployments')
  check = call('resourcecheck_subresource', check, 'scale')
  check = call('resourcecheck_namespace', check, 'test')
  check = call('resourcecheck_name', check, 'backend')
  check = call('authorizer_fieldselector', check, 'a=b')
  check = call('authorizer_labelselector', check, 'c=d')
  const decision = call('resourcecheck_check', check, 'update')
  const attributes = {
    group: 'apps',
    resource: 'deployments',
    subresource: 'scale',
    namespace: 'test',
    name: 'backend',
    fieldSelector: 'a=b',
    labelSelector: 'c=d',
  }
  assert.deepEqual(checks, [{ user: 'admin', ...attributes, verb: 'update' }])
  assert.equal(call('decision_allowed', decision), true)
  assert.equal(call('decision_reason', decision), 'admin checks')
  assert.equal(call('decision_errored', decision), false)
  assert.equal(call('decision_error', decision), '')
})

test('checks of paths and service accounts, and their errors', () => {
  const checks: unknown[] = []
  const account = call('authorizer_serviceaccount', authorizer('admin', checks), 'default', 'builder')
  assert.equal(
    call('decision_allowed', call('pathcheck_check', call('authorizer_path', account, '/healthz'), 'get')),
    false,
  )
  assert.deepEqual(checks, [{ user: 'default/builder', path: '/healthz', verb: 'get' }])
  const broken = call('pathcheck_check', call('authorizer_path', authorizer('broken'), '/'), 'get')
  assert.equal(call('decision_errored', broken), true)
  assert.equal(call('decision_error', broken), 'no answer')
  const faults: readonly (readonly [() => Value, string])[] = [
    [() => call('authorizer_path', authorizer('admin'), '  '), 'path must not be empty'],
    [
      () => call('groupcheck_resource', call('authorizer_group', authorizer('admin'), ''), ''),
      'resource must not be empty',
    ],
    [
      () => call('authorizer_serviceaccount', authorizer('admin'), 'default', 'not@valid'),
      'Invalid service account name',
    ],
    [
      () => call('authorizer_serviceaccount', authorizer('admin'), 'not.valid', 'builder'),
      'Invalid service account namespace',
    ],
  ]
  for (const [run, message] of faults) assert.equal(faultOf(run), message)
})

test('a check costs so much that an expression can have two', () => {
  const path = call('authorizer_path', authorizer('admin'), '/healthz')
  assert.equal(costOf('pathcheck_check', path, 'get'), 350_000)
})
