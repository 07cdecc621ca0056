/** Tests of the conformance suite for the validation of fields (`test/e2e/apimachinery/field_validation.go`). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { installedKubectls, Kubectl } from '../../support/kubectl.ts'
import { conformanceClients } from '../support/clients.ts'
import { anything, define, type Schema } from '../support/definitions.ts'

const clients = conformanceClients({ controllers: [] })
const strictly = '?fieldValidation=Strict'
const apply = 'application/apply-patch+yaml'
const deployments = '/apis/apps/v1/namespaces/default/deployments'
const refused = (call: Promise<unknown>, ...words: RegExp[]) =>
  assert.rejects(call, (error: Error) => {
    for (const word of words) assert.match(error.message, word)
    return true
  })

const deployment = (name: string, metadata = '', spec = ''): string =>
  `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"${name}"${metadata}},` +
  `"spec":{${spec}"selector":{"matchLabels":{"app":"a"}},` +
  '"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}'

const spec: Schema = {
  type: 'object',
  properties: {
    cronSpec: { type: 'string' },
    ports: { type: 'array', items: { type: 'object', properties: { port: { type: 'integer' } } } },
  },
}
const schema: Schema = { type: 'object', properties: { spec } }
const path = (group: string): string => `/apis/${group}/v1/namespaces/default/foos`
const foo = (group: string, name: string, spec: string, more = ''): string =>
  `{"apiVersion":"${group}/v1","kind":"Foo","metadata":{"name":"${name}"${more}},"spec":${spec}}`
const applied = (group: string, name: string, body: string) =>
  clients().cluster.call('PATCH', `${path(group)}/${name}?fieldManager=e2e&fieldValidation=Strict`, body, apply)

test('FieldValidation should detect unknown and duplicate fields of a typed object', async () => {
  const { call } = clients().cluster
  const body = deployment('typed', '', '"unknownField":"bar","replicas":2,"replicas":3,')
  const words = /strict decoding error: unknown field \\"spec\.unknownField\\", duplicate field \\"spec\.replicas\\"/
  await refused(call('POST', `${deployments}${strictly}`, body), / 400 /, words)
  const { kubeconfigFile, folder } = clients().cluster
  const kubectl = new Kubectl(installedKubectls().at(-1)!, kubeconfigFile, folder)
  // Before 1.25 kubectl had no such value, and validated itself.
  if (kubectl.program.minor < 25) return
  const result = await kubectl.run('create --validate=warn -f -', { input: deployment('warned', '', '"foo":"bar",') })
  assert.equal(result.code, 0)
  assert.match(result.stderr, /Warning: unknown field "spec\.foo"/)
})

test('FieldValidation should detect unknown metadata fields of a typed object', async () => {
  const body = deployment('metadata', ',"unknownMeta":"x"')
  await refused(
    clients().cluster.call('POST', `${deployments}${strictly}`, body),
    / 400 /,
    /strict decoding error: unknown field \\"metadata\.unknownMeta\\"/,
  )
})

test('FieldValidation should create/apply a valid CR for CRD with validation schema', async () => {
  const group = 'valid.fields.example.com'
  await define(clients(), { group, versions: { v1: schema } })
  await clients().cluster.call('POST', `${path(group)}${strictly}`, foo(group, 'made', '{"cronSpec":"* * * * *"}'))
  await applied(group, 'applied', foo(group, 'applied', '{"cronSpec":"* * * * *"}'))
})

test('FieldValidation should create/apply a CR with unknown fields for CRD with no validation schema', async () => {
  const group = 'free.fields.example.com'
  await define(clients(), { group, versions: { v1: anything } })
  await clients().cluster.call('POST', `${path(group)}${strictly}`, foo(group, 'made', '{"unknown":"kept"}'))
  await applied(group, 'applied', foo(group, 'applied', '{"unknown":"kept"}'))
  assert.deepEqual((await clients().cluster.call('GET', `${path(group)}/made`)).spec, { unknown: 'kept' })
})

test(
  'FieldValidation ' + 'should create/apply an invalid CR with extra properties for CRD with validation schema',
  async () => {
    const group = 'extra.fields.example.com'
    await define(clients(), { group, versions: { v1: schema } })
    const spec = '{"cronSpec":"* * * * *","extraProperty":"x"}'
    await refused(
      clients().cluster.call('POST', `${path(group)}${strictly}`, foo(group, 'made', spec)),
      / 400 /,
      /unknown field .*spec\.extraProperty/,
    )
    await refused(
      applied(group, 'applied', foo(group, 'applied', spec)),
      /\.spec\.extraProperty: field not declared in schema/,
    )
    const atRoot = foo(group, 'applied', '{"cronSpec":"* * * * *"},"unknownField":"unknown"')
    await refused(applied(group, 'applied', atRoot), /\.unknownField: field not declared in schema/)
    // Without strict validation, it is dropped.
    const made = await clients().cluster.call('POST', `${path(group)}?fieldValidation=Ignore`, foo(group, 'made', spec))
    assert.deepEqual(made.spec, { cronSpec: '* * * * *' })
  },
)

test('FieldValidation should detect duplicates in a CR when preserving unknown fields', async () => {
  const group = 'twice.fields.example.com'
  await define(clients(), {
    group,
    versions: {
      v1: { type: 'object', properties: { spec: { ...spec, 'x-kubernetes-preserve-unknown-fields': true } } },
    },
  })
  const twice = '{"unknown":"uk1","cronSpec":"* * * * *","cronSpec":"0 * * * *"}'
  await refused(
    clients().cluster.call('POST', `${path(group)}${strictly}`, foo(group, 'made', twice)),
    / 400 /,
    /duplicate field .*spec\.cronSpec/,
  )
  const lines = [
    '',
    `apiVersion: ${group}/v1`,
    'kind: Foo',
    'metadata:',
    '  name: applied',
    'spec:',
    '  unknown: uk1',
    '  cronSpec: a',
    '  cronSpec: b',
    '',
  ]
  await refused(
    applied(group, 'applied', lines.join('\n')),
    / 400 /,
    /error strict decoding YAML: .*line 9: key \\"cronSpec\\" already set in map/,
  )
})

test('FieldValidation should detect unknown metadata fields in both the root and embedded object of a CR', async () => {
  const group = 'embedded.fields.example.com'
  const template = {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    properties: { metadata: { type: 'object' }, spec: { type: 'object' } },
  }
  await define(clients(), {
    group,
    versions: { v1: { type: 'object', properties: { spec: { type: 'object', properties: { template } } } } },
  })
  const spec = '{"template":{"apiVersion":"v1","kind":"Sub","metadata":{"name":"sub","unknownSub":"x"},"spec":{}}}'
  const body = foo(group, 'made', spec, ',"unknownRoot":"x"')
  await refused(
    clients().cluster.call('POST', `${path(group)}${strictly}`, body),
    / 400 /,
    /unknown field .*metadata\.unknownRoot/,
    /unknown field .*spec\.template\.metadata\.unknownSub/,
  )
  // The embedded object lacks its apiVersion here, as in upstream's suite.
  const yaml = [
    `apiVersion: ${group}/v1`,
    'kind: Foo',
    'metadata: {name: applied, unknownMeta: unknown}',
    'spec:',
    '  template: {apiversion: foo/v1, kind: Sub, metadata: {unknownSubMeta: unknown, name: subobject, namespace: ' +
      'default}}',
  ]
  await refused(
    applied(group, 'applied', yaml.join('\n')),
    new RegExp(
      String.raw`\.spec\.template\.metadata\.unknownSubMeta: field not declared in schema` +
        String.raw`|\.metadata\.unknownMeta: field not declared in schema`,
    ),
  )
})
