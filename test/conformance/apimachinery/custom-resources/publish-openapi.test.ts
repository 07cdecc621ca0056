/**
 * Tests of the conformance suite for the OpenAPI documents of custom resources
 * (`test/e2e/apimachinery/crd_publish_openapi.go`), which kubectl reads too.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiextensionsV1Api, setHeaderOptions } from '@kubernetes/client-node'
import { installedKubectls, Kubectl } from '../../../support/kubectl.ts'
import { waitFor } from '../../../support/wait-for.ts'
import { conformanceClients } from '../../support/clients.ts'
import { anything, type DefinitionOptions, define, type Schema } from '../../support/definitions.ts'

const clients = conformanceClients({ controllers: [] })
const jsonPatch = setHeaderOptions('Content-Type', 'application/json-patch+json')

interface Published {
  readonly type?: string
  readonly properties?: Readonly<Record<string, unknown>>
  readonly [field: string]: unknown
}

/** Returns the definition of a kind in the document, by its group, version and kind. */
async function published(group: string, version: string, kind: string): Promise<Published | undefined> {
  const { definitions } = (await clients().cluster.call('GET', '/openapi/v2')) as unknown as {
    definitions: Record<string, Published>
  }
  return definitions[`${group.split('.').reverse().join('.')}.${version}.${kind}`]
}

/** Waits until a definition is in the document: it has the fields of the schema, and those of every object. */
async function appears(group: string, version: string, schema: Schema, kind = 'Foo'): Promise<void> {
  const {
    properties,
    'x-kubernetes-group-version-kind': kinds,
    ...rest
  } = await waitFor(`${kind}.${version}.${group} in the document`, () => published(group, version, kind))
  assert.deepEqual(kinds, [{ group, version, kind }])
  const { apiVersion, kind: kindProperty, metadata, ...own } = properties ?? {}
  assert.ok(!properties || (apiVersion && kindProperty && metadata))
  assert.deepEqual({ ...rest, ...(Object.keys(own).length > 0 && { properties: own }) }, schema)
}
const disappears = (group: string, version: string, kind = 'Foo'): Promise<boolean> =>
  waitFor(
    `${kind}.${version}.${group} to leave the document`,
    async () => (await published(group, version, kind)) === undefined,
  )

const kubectl = (): Kubectl => {
  const { kubeconfigFile, folder } = clients().cluster
  return new Kubectl(installedKubectls().at(-1)!, kubeconfigFile, folder)
}
const defined = (options: DefinitionOptions) => define(clients(), options)

const text = (description: string, more: object = {}): Schema => ({ description, type: 'string', ...more })
const listOf = (description: string, items: Schema): Schema => ({ description, type: 'array', items })
const object = (description: string, properties: Schema, more: object = {}): Schema => ({
  description,
  type: 'object',
  properties,
  ...more,
})

const bar: Schema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: text('Name of Bar.'),
    age: text('Age of Bar.'),
    feeling: text('Whether Bar is feeling great.', { enum: ['Great', 'Down'] }),
    bazs: listOf('List of Bazs.', { type: 'string' }),
  },
}
const available: Schema = {
  type: 'object',
  properties: {
    name: text('Name of Bar.'),
    available: { description: 'Whether the Bar is installed.', type: 'boolean' },
    quxType: text('Indicates to external qux type.', { pattern: 'in-tree|out-of-tree' }),
  },
}
const bars = object('Foo CRD for Testing', {
  spec: object('Specification of Foo', { bars: listOf('List of Bars and their specs.', bar) }),
  status: object('Status of Foo', { bars: listOf('List of Bars and their statuses.', available) }),
})
const waldo = object('Waldo CRD for Testing', {
  spec: object('Specification of Waldo', { dummy: text('Dummy property.') }),
})
const preserving = { 'x-kubernetes-preserve-unknown-fields': true }
const free: Schema = { type: 'object' }

/** Checks that kubectl creates and applies an object. */
async function accepted(
  object: { readonly metadata: { readonly name: string }; readonly [field: string]: unknown },
  plural: string,
): Promise<void> {
  const input = JSON.stringify(object)
  for (const verb of ['create', 'apply']) {
    await kubectl().ok(`${verb} -f -`, undefined, { input })
    await kubectl().ok(`delete ${plural} ${object.metadata.name}`)
  }
}

test('CustomResourcePublishOpenAPI works for CRD with validation schema', async () => {
  const group = 'validated.example.com'
  const plural = `foos.${group}`
  await defined({ group, versions: { v1: bars } })
  await appears(group, 'v1', bars)
  const foo = (spec: object) => ({ apiVersion: `${group}/v1`, kind: 'Foo', metadata: { name: 'test-foo' }, spec })
  await accepted(foo({ bars: [{ name: 'test-bar' }] }), plural)
  const refused = async (spec: object, words: RegExp, ...verbs: string[]) => {
    for (const verb of verbs) await kubectl().fails(`${verb} -f -`, words, { input: JSON.stringify(foo(spec)) })
  }
  await refused(
    { bars: [{ name: 'test-bar', feeling: 'NonExistentValue' }] },
    /Unsupported value: "NonExistentValue"/,
    'create',
  )
  await refused({ foo: true }, /unknown field "(spec\.)?foo"/, 'create', 'apply')
  await refused(
    { bars: [{ age: '10' }] },
    /missing required field "name"|spec\.bars\[0\]\.name: Required value/,
    'create',
    'apply',
  )
  for (const [path, words] of [
    [
      '',
      new RegExp(
        'DESCRIPTION:.*Foo CRD for Testing.*FIELDS:.*apiVersion.*<string>.*APIVersion defines.*' +
          'spec.*<Object>.*Specification of Foo',
        's',
      ),
    ],
    [
      '.metadata',
      new RegExp(
        "DESCRIPTION:.*Standard object's metadata.*" +
          'FIELDS:.*creationTimestamp.*<string>.*CreationTimestamp is a timestamp',
        's',
      ),
    ],
    ['.spec', /DESCRIPTION:.*Specification of Foo.*FIELDS:.*bars.*<\[\]Object>.*List of Bars and their specs/s],
    [
      '.spec.bars',
      new RegExp(
        String.raw`(FIELD|RESOURCE):.*bars.*<\[\]Object>.*DESCRIPTION:.*List of Bars and their specs.*` +
          String.raw`FIELDS:.*bazs.*<\[\]string>.*List of Bazs.*name.*<string>.*Name of Bar`,
        's',
      ),
    ],
  ] as const)
    await kubectl().ok(`explain foos${path} --api-version=${group}/v1`, words)
  await kubectl().fails(`explain foos.spec.bars2 --api-version=${group}/v1`, /field "bars2" does not exist/)
})

test('CustomResourcePublishOpenAPI works for CRD without validation schema', async () => {
  const group = 'unvalidated.example.com'
  await defined({ group, kind: 'Free', versions: { v1: anything } })
  await appears(group, 'v1', free, 'Free')
  await accepted(
    { apiVersion: `${group}/v1`, kind: 'Free', metadata: { name: 'test-cr' }, a: { b: [{ c: 'd' }] } },
    `frees.${group}`,
  )
  await kubectl().ok('explain frees', /DESCRIPTION:.*<empty>/s)
})

test('CustomResourcePublishOpenAPI works for CRD preserving unknown fields at the schema root', async () => {
  const group = 'root.example.com'
  const schema = {
    ...object('preserve-unknown-properties at root for Testing', {
      spec: object('Specification of Waldo', { dummy: text('Dummy property.') }),
    }),
    ...preserving,
  }
  await defined({ group, kind: 'Rooted', versions: { v1: schema } })
  await waitFor('it in the document', () => published(group, 'v1', 'Rooted'))
  await accepted(
    { apiVersion: `${group}/v1`, kind: 'Rooted', metadata: { name: 'test-cr' }, a: { b: [{ c: 'd' }] } },
    `rooteds.${group}`,
  )
  await kubectl().ok('explain rooteds', /KIND:.*Rooted/s)
})

test('CustomResourcePublishOpenAPI works for CRD preserving unknown fields in an embedded object', async () => {
  const group = 'nested.example.com'
  const spec = object('Specification of Waldo', { dummy: text('Dummy property.') }, preserving)
  const status = object('Status of Waldo', { bars: listOf('List of Bars and their statuses.', free) })
  await defined({
    group,
    kind: 'Nested',
    versions: { v1: object('preserve-unknown-properties in nested field for Testing', { spec, status }) },
  })
  await waitFor('it in the document', () => published(group, 'v1', 'Nested'))
  const unknown = { a: null, b: [{ c: 'd' }] }
  await accepted(
    { apiVersion: `${group}/v1`, kind: 'Nested', metadata: { name: 'test-cr' }, spec: unknown },
    `nesteds.${group}`,
  )
  await kubectl().ok('explain nesteds', /DESCRIPTION:.*preserve-unknown-properties in nested field for Testing/s)
})

test('CustomResourcePublishOpenAPI works for multiple CRDs of different groups', async () => {
  await defined({ group: 'one.example.org', versions: { v1: bars } })
  await defined({ group: 'two.example.org', kind: 'Waldo', versions: { v1beta1: waldo } })
  await appears('two.example.org', 'v1beta1', waldo, 'Waldo')
  await appears('one.example.org', 'v1', bars)
})

test('CustomResourcePublishOpenAPI works for multiple CRDs of same group but different versions', async () => {
  const group = 'versions.example.com'
  await defined({ group, versions: { v2: bars, v3: bars } })
  await appears(group, 'v3', bars)
  await appears(group, 'v2', bars)
  const common = 'common-versions.example.com'
  await defined({ group: common, versions: { v4: bars } })
  await defined({ group: common, kind: 'Waldo', versions: { v5: waldo } })
  await appears(common, 'v5', waldo, 'Waldo')
  await appears(common, 'v4', bars)
})

test('CustomResourcePublishOpenAPI works for multiple CRDs of same group and version but different kinds', async () => {
  const group = 'kinds.example.com'
  await defined({ group, versions: { v6: bars } })
  await defined({ group, kind: 'Waldo', versions: { v6: waldo } })
  await appears(group, 'v6', waldo, 'Waldo')
  await appears(group, 'v6', bars)
})

test('CustomResourcePublishOpenAPI updates the published spec when one version gets renamed', async () => {
  const group = 'renamed.example.com'
  const { metadata } = await defined({ group, versions: { v2: bars, v3: bars } })
  await appears(group, 'v3', bars)
  const body = [
    { op: 'test', path: '/spec/versions/1/name', value: 'v3' },
    { op: 'replace', path: '/spec/versions/1/name', value: 'v4' },
  ]
  await clients()
    .config.makeApiClient(ApiextensionsV1Api)
    .patchCustomResourceDefinition({ name: metadata?.name ?? '', body }, jsonPatch)
  await appears(group, 'v4', bars)
  await disappears(group, 'v3')
  await appears(group, 'v2', bars)
})

test(
  'CustomResourcePublishOpenAPI removes definition from spec ' + 'when one version gets changed to not be served',
  async () => {
    const group = 'unserved.example.com'
    const { metadata } = await defined({ group, versions: { v5: bars, v6alpha1: bars } })
    await appears(group, 'v6alpha1', bars)
    const body = [{ op: 'replace', path: '/spec/versions/1/served', value: false }]
    await clients()
      .config.makeApiClient(ApiextensionsV1Api)
      .patchCustomResourceDefinition({ name: metadata?.name ?? '', body }, jsonPatch)
    await disappears(group, 'v6alpha1')
    await appears(group, 'v5', bars)
  },
)
