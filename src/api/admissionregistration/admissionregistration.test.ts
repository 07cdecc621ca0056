/** Validation of webhook configurations, admission policies and their bindings. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../machinery/object.ts'
import { resources } from './index.ts'

/** Returns the errors of a new object of a kind, after its defaults are applied. */
function validationErrors(kind: string, fields: object): string[] {
  const definition = resources.find((one) => one.kind === kind && one.version === 'v1')!
  const object = structuredClone({ metadata: { name: 'x' }, ...fields }) as unknown as KubeObject
  for (const defaults of definition.defaults ?? []) if (typeof defaults === 'function') defaults(object as never)
  return (definition.validate?.object?.(object as never) ?? []).map(({ field, message }) => `${field}: ${message}`)
}

const webhook = (more: object): object => ({
  name: 'webhook.k8s.io',
  clientConfig: { url: 'https://example.com' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1beta1'],
  ...more,
})
const rules = (resources: readonly string[], more: object = {}): object => ({
  rules: [{ operations: ['CREATE'], apiGroups: ['a'], apiVersions: ['a'], resources, ...more }],
})
const url = (url: string): object => ({ clientConfig: { url } })
const service = (service: object): object => ({ clientConfig: { service: { namespace: 'ns', name: 'n', ...service } } })
const condition = (...matchConditions: object[]): object => ({ matchConditions })
const form = '; desired format: https://host[/path]'
const at = 'webhooks[0]'
const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start " +
  "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

const webhooks: readonly (readonly [string, object, ...string[]])[] = [
  ['a supported and an unsupported review version', { admissionReviewVersions: ['v1beta1', 'invalid-version'] }],
  [
    'a duplicate review version',
    { admissionReviewVersions: ['v1beta1', 'v1beta1'] },
    `${at}.admissionReviewVersions[1]: Invalid value: "v1beta1": duplicate version`,
  ],
  ['a star and resources with a subresource', rules(['*', 'a/b', 'a/*', '*/b'])],
  [
    'a star before a resource',
    rules(['*', 'a']),
    `${at}.rules[0].resources: Invalid value: ["*","a"]: if '*' is present, must not specify other resources ` +
      'without subresources',
  ],
  // Upstream checks the last resource only.
  ['a star after a resource', rules(['a', '*'])],
  [
    'all subresources of a and one of them',
    rules(['a/*', 'a/x']),
    `${at}.rules[0].resources[1]: Invalid value: "a/x": if 'a/*' is present, must not specify a/x`,
  ],
  ['a and all its subresources', rules(['a/*', 'a'])],
  [
    'a subresource of all resources and of one',
    rules(['*/a', 'x/a']),
    `${at}.rules[0].resources[1]: Invalid value: "x/a": if '*/a' is present, must not specify x/a`,
  ],
  [
    'everything and a resource',
    rules(['*/*', 'a']),
    `${at}.rules[0].resources: Invalid value: ["*/*","a"]: if '*/*' is present, must not specify other resources`,
  ],
  [
    'everything and all subresources of a',
    rules(['*/*', 'a/*']),
    `${at}.rules[0].resources[1]: Invalid value: "a/*": if '*/*' is present, must not specify a/*`,
    `${at}.rules[0].resources: Invalid value: ["*/*","a/*"]: if '*/*' is present, must not specify other resources`,
  ],
  [
    'an unknown operation',
    rules(['a'], { operations: ['PATCH'] }),
    `${at}.rules[0].operations[0]: Unsupported value: "PATCH": supported values: "*", "CONNECT", "CREATE", ` +
      '"DELETE", "UPDATE"',
  ],
  [
    'neither service nor URL',
    { clientConfig: {} },
    `${at}.clientConfig: Required value: exactly one of url or service is required`,
  ],
  [
    'an empty URL',
    url(''),
    `${at}.clientConfig.url: Invalid value: "": 'https' is the only allowed URL scheme${form}`,
    `${at}.clientConfig.url: Invalid value: "": host must be specified${form}`,
  ],
  [
    'a scheme other than https',
    url('http://example.com'),
    `${at}.clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme${form}`,
  ],
  [
    'no host',
    url('https:///fancy/webhook'),
    `${at}.clientConfig.url: Invalid value: "": host must be specified${form}`,
  ],
  [
    'a fragment',
    url('https://example.com/#bookmark'),
    `${at}.clientConfig.url: Invalid value: "bookmark": fragments are not permitted in the URL`,
  ],
  [
    'a query',
    url('https://example.com?arg=value'),
    `${at}.clientConfig.url: Invalid value: "arg=value": query parameters are not permitted in the URL`,
  ],
  [
    'a user',
    url('https://harry.potter@example.com/'),
    `${at}.clientConfig.url: Invalid value: "harry.potter": user information is not permitted in the URL`,
  ],
  [
    'an invalid URL',
    url('https://exa mple.com'),
    `${at}.clientConfig.url: Required value: url must be a valid URL: parse "https://exa mple.com": invalid ` +
      `character " " in host name${form}`,
  ],
  [
    'a service path without a leading slash',
    service({ path: 'foo/' }),
    `${at}.clientConfig.service.path: Invalid value: "foo/": must start with a '/'`,
  ],
  ['a valid service path', service({ path: '/foo/bar.baz/' })],
  [
    'two slashes',
    service({ path: '//' }),
    `${at}.clientConfig.service.path: Invalid value: "//": segment[0] may not be empty`,
  ],
  [
    'an empty segment',
    service({ path: '/foo//bar/' }),
    `${at}.clientConfig.service.path: Invalid value: "/foo//bar/": segment[1] may not be empty`,
  ],
  [
    'an empty segment at the end',
    service({ path: '/foo/bar//' }),
    `${at}.clientConfig.service.path: Invalid value: "/foo/bar//": segment[2] may not be empty`,
  ],
  [
    'a path segment that is no subdomain',
    service({ path: '/apis/foo.bar/v1alpha1/--bad' }),
    `${at}.clientConfig.service.path: Invalid value: "/apis/foo.bar/v1alpha1/--bad": segment[3]: ${subdomain}`,
  ],
  [
    'an invalid port',
    service({ port: 65536 }),
    `${at}.clientConfig.service.port: Invalid value: 65536: port is not valid: must be between 1 and 65535, inclusive`,
  ],
  [
    'a time-out that is too long',
    { timeoutSeconds: 31 },
    `${at}.timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds`,
  ],
  [
    'a match condition without a name',
    condition({ expression: 'true' }),
    `${at}.matchConditions[0].name: Required value`,
  ],
  [
    'two match conditions with the same name',
    condition({ name: 'a', expression: 'true' }, { name: 'a', expression: 'true' }),
    `${at}.matchConditions[1].name: Duplicate value: "a"`,
  ],
  [
    'a match condition without an expression',
    condition({ name: 'a', expression: ' ' }),
    `${at}.matchConditions[0].expression: Required value`,
  ],
  [
    'a match condition that is not boolean',
    condition({ name: 'a', expression: '6' }),
    `${at}.matchConditions[0].expression: Invalid value: "6": must evaluate to bool but got int`,
  ],
  [
    "several faults, in upstream's order",
    {
      reinvocationPolicy: 'x',
      clientConfig: {},
      admissionReviewVersions: [],
      matchConditions: [{ name: 'a', expression: '' }],
    },
    `${at}.reinvocationPolicy: Unsupported value: "x": supported values: "IfNeeded", "Never"`,
    `${at}.clientConfig: Required value: exactly one of url or service is required`,
    `${at}.matchConditions[0].expression: Required value`,
    `${at}.admissionReviewVersions: Required value: must specify one of v1, v1beta1`,
  ],
]
for (const [what, more, ...expected] of webhooks)
  test(`webhooks: ${what}`, () =>
    assert.deepEqual(validationErrors('MutatingWebhookConfiguration', { webhooks: [webhook(more)] }), expected))

test('webhook names are unique and have at least three segments', () => {
  const named = (...names: string[]): string[] =>
    validationErrors('ValidatingWebhookConfiguration', { webhooks: names.map((name) => webhook({ name })) })
  assert.deepEqual(named('webhook.k8s.io', 'k8s.io', ''), [
    'webhooks[1].name: Invalid value: "k8s.io": should be a domain with at least three segments separated by dots',
    'webhooks[2].name: Required value',
  ])
  assert.deepEqual(named('webhook.k8s.io', 'webhook.k8s.io'), ['webhooks[1].name: Duplicate value: "webhook.k8s.io"'])
})

const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }
const policy = (matchConstraints: object): string[] =>
  validationErrors('ValidatingAdmissionPolicy', { spec: { matchConstraints, validations: [{ expression: 'true' }] } })

test('resourceNames of policy rules are unique and valid path segments', () => {
  const named = (...resourceNames: string[]): string[] => policy({ resourceRules: [{ ...rule, resourceNames }] })
  assert.deepEqual(named('a', 'b'), [])
  assert.deepEqual(named('a', 'a/b', 'a'), [
    `spec.matchConstraints.resourceRules[0].resourceNames[1]: Invalid value: "a/b": may not contain '/'`,
    'spec.matchConstraints.resourceRules[0].resourceNames[2]: Duplicate value: "a"',
  ])
  assert.deepEqual(policy({ resourceRules: [rule], excludeResourceRules: [{ ...rule, resourceNames: ['..'] }] }), [
    `spec.matchConstraints.excludeResourceRules[0].resourceNames[0]: Invalid value: "..": may not be '..'`,
  ])
  assert.deepEqual(policy({ matchPolicy: 'x' }), [
    'spec.matchConstraints.matchPolicy: Unsupported value: "x": supported values: "Equivalent", "Exact"',
    'spec.matchConstraints.resourceRules: Required value',
  ])
})

test('expressionWarnings in the status of a policy need a fieldRef and a warning', () => {
  const { validate } = resources.find(({ kind }) => kind === 'ValidatingAdmissionPolicy')!
  const status = (...expressionWarnings: object[]): string[] => {
    const object = { metadata: { name: 'x' }, status: { typeChecking: { expressionWarnings } } } as never
    return (validate?.status?.(object, object) ?? []).map(({ field, message }) => `${field}: ${message}`)
  }
  const field = 'status.typeChecking.expressionWarnings[0]'
  assert.deepEqual(status({ fieldRef: 'spec.validations[0].expression', warning: 'w' }), [])
  assert.deepEqual(status({ fieldRef: ' ', warning: '' }), [
    `${field}.warning: Required value`,
    `${field}.fieldRef: Required value`,
  ])
})

const mutating = (spec: object): string[] =>
  validationErrors('MutatingAdmissionPolicy', {
    spec: { matchConstraints: { resourceRules: [rule] }, reinvocationPolicy: 'Never', mutations: [applied], ...spec },
  })
const applied = { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } }

const mutations: readonly (readonly [string, object, ...string[]])[] = [
  ['an apply configuration', applied],
  ['a JSON patch', { patchType: 'JSONPatch', jsonPatch: { expression: "[JSONPatch{op: 'remove', path: '/a'}]" } }],
  ['no patchType', { applyConfiguration: { expression: 'Object{}' } }, 'patchType: Required value'],
  [
    'an unknown patchType',
    { patchType: 'other' },
    'patchType: Unsupported value: "other": supported values: "ApplyConfiguration", "JSONPatch"',
  ],
  [
    'a JSON patch with an apply configuration',
    { patchType: 'JSONPatch', applyConfiguration: { expression: 'Object{}' } },
    'jsonPatch: Required value: must be specified when patchType is JSONPatch',
    'applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch',
  ],
  [
    'an apply configuration with a JSON patch',
    { patchType: 'ApplyConfiguration', jsonPatch: { expression: '[]' } },
    'applyConfiguration: Required value: must be specified when patchType is ApplyConfiguration',
    'jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is ApplyConfiguration',
  ],
  [
    'no expression',
    { patchType: 'JSONPatch', jsonPatch: { expression: '  ' } },
    'jsonPatch.expression: Required value',
  ],
  [
    'an expression of the wrong type',
    { patchType: 'JSONPatch', jsonPatch: { expression: ' 1 ' } },
    'jsonPatch.expression: Invalid value: "1": must evaluate to list(JSONPatch) but got int',
  ],
]
for (const [what, mutation, ...expected] of mutations)
  test(`mutations: ${what}`, () => {
    assert.deepEqual(
      mutating({ mutations: [mutation] }),
      expected.map((text) => `spec.mutations[0].${text}`),
    )
  })

test('mutating policies and bindings must not match DELETE', () => {
  assert.deepEqual(
    mutating({ matchConstraints: { resourceRules: [{ ...rule, operations: ['CREATE', 'UPDATE', 'CONNECT'] }] } }),
    [],
  )
  const refused =
    'resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"'
  const match = { resourceRules: [{ ...rule, operations: ['DELETE'] }] }
  assert.deepEqual(mutating({ matchConstraints: match }), [`spec.matchConstraints.${refused}`])
  assert.deepEqual(
    validationErrors('MutatingAdmissionPolicyBinding', { spec: { policyName: 'p', matchResources: match } }),
    [`spec.matchResources.${refused}`],
  )
  assert.deepEqual(mutating({ mutations: [], reinvocationPolicy: undefined }), [
    'spec.mutations: Required value: mutations must contain at least one item',
    'spec.reinvocationPolicy: Required value',
  ])
})
