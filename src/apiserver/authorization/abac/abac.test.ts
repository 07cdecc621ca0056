import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AccessAttributes } from '../authorizer.ts'
import { abacAuthorizer, parsePolicies, unversionedLines } from './index.ts'

const policy = '"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy"'
const file = `
# who may do what
{"user":"alice"}
{"user":"reader","readonly":true,"resource":"pods","namespace":"a"}
{"group":"ops","namespace":"b"}
{${policy},"spec":{"user":"bob","namespace":"a","resource":"deployments","apiGroup":"apps"}}
{${policy},"spec":{"user":"*","readonly":true,"nonResourcePath":"/health*"}}
{${policy},"spec":{"user":"carol","group":"ops","namespace":"*","resource":"*","apiGroup":"*"}}
`
const authorizer = abacAuthorizer(parsePolicies(file, 'p.jsonl'))

interface Asked {
  readonly verb?: string
  readonly group?: string
  readonly resource?: string
  readonly namespace?: string
  readonly path?: string
  readonly groups?: readonly string[]
}

function may(name: string, { path, groups = ['system:authenticated'], ...asked }: Asked): boolean {
  const info = {
    isResourceRequest: path === undefined,
    verb: 'get',
    prefix: 'api',
    group: '',
    version: 'v1',
    namespace: '',
    resource: '',
    subresource: '',
    name: '',
    rest: [],
  }
  const attributes: AccessAttributes = { user: { name, groups }, info: { ...info, ...asked, path: path ?? '' } }
  const decision = authorizer.authorize(attributes)
  assert.ok(!(decision instanceof Promise))
  assert.equal(decision.reason, decision.verdict === 'allow' ? '' : 'No policy matched.')
  return decision.verdict === 'allow'
}

describe('policies', () => {
  const cases: readonly (readonly [string, string, Asked, boolean])[] = [
    [
      'an unversioned line with only a user allows everything',
      'alice',
      { verb: 'delete', group: 'x', resource: 'y', namespace: 'z' },
      true,
    ],
    ['including paths', 'alice', { path: '/metrics' }, true],
    ['a readonly policy allows reads', 'reader', { verb: 'watch', resource: 'pods', namespace: 'a' }, true],
    ['but not writes', 'reader', { verb: 'create', resource: 'pods', namespace: 'a' }, false],
    ['not in other namespaces', 'reader', { resource: 'pods', namespace: 'b' }, false],
    ['and not paths', 'reader', { path: '/metrics' }, false],
    ['a group', 'dave', { verb: 'update', resource: 'pods', namespace: 'b', groups: ['ops'] }, true],
    ['a group must match exactly', 'dave', { resource: 'pods', namespace: 'b', groups: ['opsy'] }, false],
    ['a resource of an API group', 'bob', { group: 'apps', resource: 'deployments', namespace: 'a' }, true],
    ['but not of another API group', 'bob', { group: 'extensions', resource: 'deployments', namespace: 'a' }, false],
    ['a path with the prefix', 'eve', { path: '/healthz' }, true],
    ['a path without the prefix', 'eve', { path: '/metrics' }, false],
    [
      'a star means authenticated users',
      'system:anonymous',
      { path: '/healthz', groups: ['system:unauthenticated'] },
      false,
    ],
    ['a policy with user and group needs both', 'carol', { resource: 'pods', namespace: 'a' }, false],
    ['user and group match', 'carol', { resource: 'pods', namespace: 'a', groups: ['ops'] }, true],
    ['no policy matches', 'eve', { resource: 'pods', namespace: 'a' }, false],
  ]
  for (const [title, user, asked, expected] of cases) test(title, () => assert.equal(may(user, asked), expected))

  test('rulesFor lists the policies of a user', () => {
    assert.deepEqual(authorizer.rulesFor({ name: 'bob', groups: ['system:authenticated'] }, 'a'), {
      resourceRules: [{ verbs: ['*'], apiGroups: ['apps'], resources: ['deployments'] }],
      nonResourceRules: [],
      incomplete: false,
    })
  })
})

describe('policy files', () => {
  const fails = (text: string, message: RegExp) => assert.throws(() => parsePolicies(text, '/etc/p'), message)
  test('the error names an invalid line', () =>
    fails(
      '\n{"user"\n',
      new RegExp(
        String.raw`^ExplainedError: error reading policy file /etc/p, line 2: \{"user": couldn't get version/kind; ` +
          'json parse error: ',
      ),
    ))
  test('and a line of another version', () =>
    fails(
      '{"apiVersion":"abac.authorization.kubernetes.io/v2","kind":"Policy"}',
      /line 1: .*: no kind "Policy" is registered for version "abac\.authorization\.kubernetes\.io\/v2"/,
    ))
  test('and a field of another type', () =>
    fails('{"user":1}', /json: cannot unmarshal number into Go struct field PolicySpec\.user of type string/))
  test('unversioned lines are counted', () => assert.equal(unversionedLines(file), 3))
})
