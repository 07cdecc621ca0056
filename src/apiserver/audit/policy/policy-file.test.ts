import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePolicy, readPolicyFile } from './policy-file.ts'

const policy = (rules: string, more = ''): string =>
  `apiVersion: audit.k8s.io/v1\nkind: Policy\n${more}rules: ${rules}\n`

test('a policy is parsed from YAML', () => {
  assert.deepEqual(
    parsePolicy(
      policy(
        "[{level: Metadata, users: [a], resources: [{group: '', resources: [pods]}]}]",
        'omitStages: [RequestReceived]\n',
      ),
    ),
    {
      apiVersion: 'audit.k8s.io/v1',
      kind: 'Policy',
      omitStages: ['RequestReceived'],
      rules: [{ level: 'Metadata', users: ['a'], resources: [{ group: '', resources: ['pods'] }] }],
    },
  )
})

for (const [what, text, message] of [
  ['no rules', policy('[]'), /^loaded illegal policy with 0 rules$/],
  ['no kind', 'apiVersion: audit.k8s.io/v1\nrules: []', /Object 'Kind' is missing/],
  [
    'a removed version',
    policy('[{level: None}]').replace('/v1', '/v1beta1'),
    /no kind "Policy" is registered for version "audit.k8s.io\/v1beta1"/,
  ],
  ['another type', '[]', /^failed decoding: /],
  ['invalid YAML', 'a: [', /^failed decoding: error converting YAML to JSON/],
  [
    'an unknown field',
    policy('[{level: None, verb: [get]}]'),
    /^failed decoding: strict decoding error: unknown field "rules\[0\].verb"$/,
  ],
  [
    'a field twice',
    policy('[{level: None, level: Metadata}]'),
    /^failed decoding: strict decoding error: .*"level" already set/s,
  ],
  [
    'a wrong type',
    policy('[{level: None, verbs: get}]'),
    /cannot unmarshal string into Go struct field .rules\[0\].verbs/,
  ],
  ['no level', policy('[{verbs: [get]}]'), /^rules\[0\]\.level: Required value$/],
  [
    'an unknown level',
    policy('[{level: All}]'),
    /^rules\[0\]\.level: Unsupported value: "All": supported values: "None", "Metadata", "Request", "RequestResponse"$/,
  ],
  [
    'an unknown stage',
    policy('[{level: None, omitStages: [X]}]'),
    /allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic$/,
  ],
  [
    'a path without a slash',
    policy('[{level: None, nonResourceURLs: [logs]}]'),
    /non-resource URL rules must begin with a '\/' character$/,
  ],
  [
    'a star within a path',
    policy('[{level: None, nonResourceURLs: [/a*b]}]'),
    /non-resource URL wildcards '\*' must be the final character of the rule$/,
  ],
  [
    'resources and paths',
    policy('[{level: None, nonResourceURLs: [/a], namespaces: [x]}]'),
    /rules cannot apply to both regular resources and non-resource URLs$/,
  ],
  [
    'names without resources',
    policy('[{level: None, resources: [{resourceNames: [a]}]}]'),
    /using resourceNames requires at least one resource$/,
  ],
  [
    'an invalid group',
    policy('[{level: None, resources: [{group: A_b}]}]'),
    /^rules\[0\]\.resources\.group: Invalid value: "A_b": a lowercase RFC 1123/,
  ],
] as const) {
  test(`a policy with ${what} is rejected`, () => {
    assert.throws(() => parsePolicy(text), { message })
  })
}

test('the error for a missing file names it', () => {
  assert.throws(() => readPolicyFile('/nowhere/policy.yaml'), {
    message: /^loading audit policy file: failed to read file path "\/nowhere\/policy.yaml": ENOENT/,
  })
})
