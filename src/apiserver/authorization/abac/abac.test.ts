import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AccessAttributes } from '../authorizer.ts'
import { abacAuthorizer, parsePolicies, unversionedLines } from './index.ts'

const file = `
# who may do what
{"user":"alice"}
{"user":"reader","readonly":true,"resource":"pods","namespace":"a"}
{"group":"ops","namespace":"b"}
{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"bob","namespace":"a","resource":"deployments","apiGroup":"apps"}}
{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"*","readonly":true,"nonResourcePath":"/health*"}}
{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"carol","group":"ops","namespace":"*","resource":"*","apiGroup":"*"}}
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
      'a line without a version that names only a user is for everything',
      'alice',
      { verb: 'delete', group: 'x', resource: 'y', namespace: 'z' },
      true,
    ],
    ['paths among it', 'alice', { path: '/metrics' }, true],
    ['reading', 'reader', { verb: 'watch', resource: 'pods', namespace: 'a' }, true],
    ['is no writing', 'reader', { verb: 'create', resource: 'pods', namespace: 'a' }, false],
    ['nor other namespaces', 'reader', { resource: 'pods', namespace: 'b' }, false],
    ['nor paths', 'reader', { path: '/metrics' }, false],
    ['a group', 'dave', { verb: 'update', resource: 'pods', namespace: 'b', groups: ['ops'] }, true],
    ['a group is', 'dave', { resource: 'pods', namespace: 'b', groups: ['opsy'] }, false],
    ['a resource of its group', 'bob', { group: 'apps', resource: 'deployments', namespace: 'a' }, true],
    ['and no other group', 'bob', { group: 'extensions', resource: 'deployments', namespace: 'a' }, false],
    ['a path that begins so', 'eve', { path: '/healthz' }, true],
    ['a path that does not', 'eve', { path: '/metrics' }, false],
    [
      'a star is everybody who is known',
      'system:anonymous',
      { path: '/healthz', groups: ['system:unauthenticated'] },
      false,
    ],
    ['a user and a group have to be right', 'carol', { resource: 'pods', namespace: 'a' }, false],
    ['both of them', 'carol', { resource: 'pods', namespace: 'a', groups: ['ops'] }, true],
    ['nobody', 'eve', { resource: 'pods', namespace: 'a' }, false],
  ]
  for (const [title, user, asked, expected] of cases) test(title, () => assert.equal(may(user, asked), expected))

  test('are listed for who asks', () => {
    assert.deepEqual(authorizer.rulesFor({ name: 'bob', groups: ['system:authenticated'] }, 'a'), {
      resourceRules: [{ verbs: ['*'], apiGroups: ['apps'], resources: ['deployments'] }],
      nonResourceRules: [],
      incomplete: false,
    })
  })
})

describe('policy files', () => {
  const fails = (text: string, message: RegExp) => assert.throws(() => parsePolicies(text, '/etc/p'), message)
  test('a line that is no JSON is named', () =>
    fails(
      '\n{"user"\n',
      /^ExplainedError: error reading policy file \/etc\/p, line 2: \{"user": couldn't get version\/kind; json parse error: /,
    ))
  test('so is one of another version', () =>
    fails(
      '{"apiVersion":"abac.authorization.kubernetes.io/v2","kind":"Policy"}',
      /line 1: .*: no kind "Policy" is registered for version "abac\.authorization\.kubernetes\.io\/v2"/,
    ))
  test('and a field of another type', () =>
    fails('{"user":1}', /json: cannot unmarshal number into Go struct field PolicySpec\.user of type string/))
  test('lines without a version are counted', () => assert.equal(unversionedLines(file), 3))
})
