import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { goDuration } from '../../../lib/go/go-duration.ts'
import type { ReviewSpec } from '../webhook/review.ts'
import { loadConfiguration } from './load-configuration.ts'
import { compileConditions } from './match-conditions.ts'

const head = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\n'
const thisFile = import.meta.filename
const webhook = (more = '', name = 'hook') => `
- type: Webhook
  name: ${name}
  webhook:
    timeout: 3s
    subjectAccessReviewVersion: v1
    failurePolicy: Deny
    connectionInfo: { type: KubeConfigFile, kubeConfigFile: ${thisFile} }
${more}`

test('a configuration is parsed with defaults', () => {
  const { authorizers } = loadConfiguration(
    `${head}authorizers:\n- { type: Node, name: node ` +
      `}${webhook('    unauthorizedTTL: 1m\n    cacheAuthorizedRequests: false')}`,
  )
  assert.deepEqual(authorizers, [
    { type: 'Node', name: 'node' },
    {
      type: 'Webhook',
      name: 'hook',
      webhook: {
        authorizedMs: 300_000,
        cachesAuthorized: false,
        unauthorizedMs: 60_000,
        cachesUnauthorized: true,
        timeoutMs: 3000,
        subjectAccessReviewVersion: 'v1',
        matchConditionSubjectAccessReviewVersion: '',
        failurePolicy: 'Deny',
        connectionType: 'KubeConfigFile',
        kubeConfigFile: thisFile,
        matchConditions: [],
      },
    },
  ])
})

describe('an invalid configuration', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['no authorizers', head, 'authorizers: Required value: at least one authorization mode must be defined'],
    ['an empty text', '', 'authorizers: Required value: at least one authorization mode must be defined'],
    ['no type', `${head}authorizers: [{ name: x }]`, 'authorizers[0].type: Required value'],
    [
      'an unknown type',
      `${head}authorizers: [{ type: Oracle, name: x }]`,
      'authorizers[0].type: Unsupported value: "Oracle": supported values: "ABAC", "AlwaysAllow", "AlwaysDeny", ' +
        '"Node", "RBAC", "Webhook"',
    ],
    [
      'a type twice',
      `${head}authorizers: [{ type: RBAC, name: rbac }, { type: RBAC, name: b }]`,
      'authorizers[1].type: Duplicate value: "RBAC"',
    ],
    ['no name', `${head}authorizers: [{ type: RBAC }]`, 'authorizers[0].name: Required value'],
    [
      'another name',
      `${head}authorizers: [{ type: RBAC, name: roles }]`,
      'expected name rbac for authorizer RBAC instead of roles',
    ],
    ['a name twice', `${head}authorizers:${webhook()}${webhook()}`, 'authorizers[1].name: Duplicate value: "hook"'],
    [
      'no webhook',
      `${head}authorizers: [{ type: Webhook, name: x }]`,
      'authorizers[0].webhook: Required value: required when type=Webhook',
    ],
    [
      'a webhook of another type',
      `${head}authorizers: [{ type: RBAC, name: rbac, webhook: {} }]`,
      'authorizers[0].webhook: Invalid value: "non-null": may only be specified when type=Webhook',
    ],
    [
      'an empty webhook',
      `${head}authorizers: [{ type: Webhook, name: x, webhook: {} }]`,
      '[authorizers[0].timeout: Required value, authorizers[0].subjectAccessReviewVersion: Required value, ' +
        'authorizers[0].failurePolicy: Required value, authorizers[0].connectionInfo.type: Required value]',
    ],
    [
      'a timeout that is too long',
      `${head}authorizers:${webhook().replace('3s', '31s')}`,
      'authorizers[0].timeout: Invalid value: "31s": must be > 0s and <= 30s',
    ],
    [
      'a negative time',
      `${head}authorizers:${webhook('    authorizedTTL: -1m')}`,
      'authorizers[0].authorizedTTL: Invalid value: "-1m0s": must be > 0s',
    ],
    [
      'another version of reviews',
      `${head}authorizers:${webhook().replace('Version: v1', 'Version: v2')}`,
      'authorizers[0].subjectAccessReviewVersion: Unsupported value: "v2": supported values: "v1", "v1beta1"',
    ],
    [
      'a relative path',
      `${head}authorizers:${webhook().replace(thisFile, 'here')}`,
      'authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "here": must be an absolute path',
    ],
    [
      'an unknown connection type',
      `${head}authorizers:${webhook().replace('type: KubeConfigFile,', 'type: ExternalClusterConfig,')}`,
      'authorizers[0].connectionInfo.type: Unsupported value: ' +
        `{"Type":"ExternalClusterConfig","KubeConfigFile":"${thisFile}"}: supported values: "InClusterConfig", ` +
        '"KubeConfigFile"',
    ],
    [
      'a missing file',
      `${head}authorizers:${webhook().replace(thisFile, '/nowhere/at/all')}`,
      'authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "/nowhere/at/all": error loading file: stat ' +
        '/nowhere/at/all: no such file or directory',
    ],
    [
      'conditions without a version',
      `${head}authorizers:${webhook('    matchConditions: [{ expression: "true" }]')}`,
      'authorizers[0].matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are ' +
        'specified',
    ],
    [
      'an unknown field',
      `${head}authorizers: [{ type: RBAC, name: rbac, nmae: x }]`,
      'failed to load AuthorizationConfiguration from file: strict decoding error: unknown field "authorizers[0].nmae"',
    ],
    [
      'another version',
      `${head.replace('v1', 'v9')}authorizers: []`,
      'failed to load AuthorizationConfiguration from file: no kind "AuthorizationConfiguration" is registered ' +
        'for version "apiserver.config.k8s.io/v9" in scheme "pkg/apis/apiserver/scheme"',
    ],
  ]
  for (const [title, text, message] of cases)
    test(title, () => assert.throws(() => loadConfiguration(text), { message }))

  test('an authorizer of the initial configuration is missing', () =>
    assert.throws(() => loadConfiguration(`${head}authorizers: [{ type: RBAC, name: rbac }]`, ['RBAC', 'Node']), {
      message: 'missing required types: [Node]',
    }))
})

describe('match conditions', () => {
  const spec: ReviewSpec = {
    user: 'jane',
    groups: ['dev'],
    resourceAttributes: {
      verb: 'list',
      resource: 'pods',
      namespace: 'a',
      fieldSelector: { requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['n'] }] },
      labelSelector: { requirements: [{ key: 'team', operator: 'Exists' }] },
    },
  }
  const cases: readonly (readonly [string, boolean | RegExp])[] = [
    ["request.user == 'jane'", true],
    ["'dev' in request.groups", true],
    ["request.resourceAttributes.namespace == 'b'", false],
    ["request.resourceAttributes.name == ''", true],
    ['has(request.nonResourceAttributes)', false],
    [
      'has(request.resourceAttributes.fieldSelector) && ' +
        "request.resourceAttributes.fieldSelector.requirements.exists(r, r.key == 'spec.nodeName' && r.values == " +
        "['n'])",
      true,
    ],
    ["request.resourceAttributes.labelSelector.requirements.exists(r, 'a' in r.values)", false],
    [
      "request.?resourceAttributes.labelSelector.requirements.orValue([]).exists(r, r.key == 'team' && r.values == [])",
      true,
    ],
    ['has(request.resourceAttributes.labelSelector.rawSelector)', false],
    [
      "request.nonResourceAttributes.path == '/x'",
      new RegExp(
        String.raw`cel evaluation error: expression 'request\.nonResourceAttributes\.path` +
          " == '/x'' resulted in error: " +
          'no such key: nonResourceAttributes',
      ),
    ],
  ]
  for (const [expression, expected] of cases) {
    test(expression, () => {
      const { matcher, errors } = compileConditions([expression], 'w')
      assert.deepEqual(errors, [])
      const matched = matcher?.(spec)
      if (expected instanceof RegExp) assert.match(typeof matched === 'object' ? matched.error : '', expected)
      else assert.equal(matched, expected)
    })
  }

  test('a false condition decides, even if others fail', () => {
    const { matcher } = compileConditions(["request.nonResourceAttributes.path == '/x'", 'false'], 'w')
    assert.equal(matcher?.(spec), false)
  })

  test('compile errors are reported by field', () => {
    const messages = compileConditions(['request.nope', "'text'", '', 'true', 'true'], 'w').errors.map(
      ({ field, message }) => `${field}: ${message}`,
    )
    assert.match(
      messages[0]!,
      new RegExp(
        String.raw`^w\.matchConditions\[0\]\.expression: Invalid value: "request\.nope": ` +
          'compilation failed: ERROR: ' +
          "<input>:1:8: undefined field 'nope'",
      ),
    )
    assert.deepEqual(messages.slice(1), [
      `w.matchConditions[1].expression: Invalid value: "'text'": must evaluate to bool but got string`,
      'w.matchConditions[2].expression: Required value',
      'w.matchConditions[4].expression: Duplicate value: "true"',
    ])
    assert.deepEqual(
      compileConditions(new Array(65).fill('true'), 'w').errors.map(({ message }) => message),
      ['Too many: 65: must have at most 64 items'],
    )
  })
})

test('durations are formatted as Go does', () => {
  assert.deepEqual([0, 500, 1500, 60_000, 3_600_000, -90_000].map(goDuration), [
    '0s',
    '500ms',
    '1.5s',
    '1m0s',
    '1h0m0s',
    '-1m30s',
  ])
})
