/** What the conformance suite asks of the OpenAPI documents of custom resources (`test/e2e/apimachinery/crd_publish_openapi.go`), which kubectl reads too. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiextensionsV1Api, setHeaderOptions } from '@kubernetes/client-node'
import { installedKubectls, Kubectl } from '../../support/kubectl.ts'
import { waitFor } from '../../support/wait-for.ts'
import { conformanceClients } from '../clients.ts'
import { anything, type DefinitionOptions, define, type Schema } from '../definitions.ts'

const clients = conformanceClients({ controllers: [] })
const jsonPatch = setHeaderOptions('Content-Type', 'application/json-patch+json')

interface Published {
  readonly type?: string
  readonly properties?: Readonly<Record<string, unknown>>
  readonly [field: string]: unknown
}

/** The definition of a kind in the document, by its group, version and kind. */
async function published(group: string, version: string, kind: string): Promise<Published | undefined> {
  const { definitions } = (await clients().cluster.call('GET', '/openapi/v2')) as unknown as { definitions: Record<string, Published> }
  return definitions[`${group.split('.').reverse().join('.')}.${version}.${kind}`]
}

const appears = (group: string, version: string, kind = 'Foo'): Promise<Published> =>
  waitFor(`${kind}.${version}.${group} in the document`, () => published(group, version, kind))
const disappears = (group: string, version: string, kind = 'Foo'): Promise<boolean> =>
  waitFor(`${kind}.${version}.${group} to leave the document`, async () => (await published(group, version, kind)) === undefined)

const kubectl = (): Kubectl => {
  const { kubeconfigFile, folder } = clients().cluster
  return new Kubectl(installedKubectls().at(-1)!, kubeconfigFile, folder)
}
const create = (object: object) => kubectl().run('create -f -', { input: JSON.stringify(object) })
const defined = (options: DefinitionOptions) => define(clients(), options)

const bars: Schema = {
  description: 'Foo of a test',
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      description: 'Specification of Foo',
      properties: {
        bars: {
          type: 'array',
          description: 'List of Bars and their specs.',
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string', description: 'Name of Bar.' }, age: { type: 'string', description: 'Age of Bar.' } },
          },
        },
      },
    },
  },
}

test('CustomResourcePublishOpenAPI works for CRD with validation schema', async () => {
  const group = 'validated.example.com'
  await defined({ group, versions: { v1: bars } })
  assert.equal((await appears(group, 'v1')).description, 'Foo of a test')
  const foo = (spec: object) => ({ apiVersion: `${group}/v1`, kind: 'Foo', metadata: { name: 'test' }, spec })
  assert.equal((await create(foo({ bars: [{ name: 'test-bar', age: '10' }] }))).code, 0)
  assert.notEqual((await create(foo({ foo: true }))).code, 0)
  assert.notEqual((await create(foo({ bars: [{ age: '10' }] }))).code, 0)
  const text = await kubectl().ok(`explain foos.spec.bars --api-version=${group}/v1`)
  assert.match(text, /List of Bars and their specs\./)
  assert.match(text, /name.*-required-/s)
})

test('CustomResourcePublishOpenAPI works for CRD without validation schema', async () => {
  const group = 'unvalidated.example.com'
  await defined({ group, versions: { v1: anything } })
  await appears(group, 'v1')
  const object = { apiVersion: `${group}/v1`, kind: 'Foo', metadata: { name: 'test' }, spec: { a: 1 }, whatever: ['b'] }
  assert.equal((await create(object)).code, 0)
})

test('CustomResourcePublishOpenAPI works for CRD preserving unknown fields at the schema root', async () => {
  const group = 'root.example.com'
  await defined({ group, versions: { v1: { ...anything, properties: { spec: { type: 'object', properties: { n: { type: 'integer' } } } } } } })
  await appears(group, 'v1')
  const object = { apiVersion: `${group}/v1`, kind: 'Foo', metadata: { name: 'test' }, unknown: 'kept', spec: { n: 1 } }
  assert.equal((await create(object)).code, 0)
  assert.equal((await kubectl().json('get foos.root.example.com test')).unknown, 'kept')
})

test('CustomResourcePublishOpenAPI works for CRD preserving unknown fields in an embedded object', async () => {
  const group = 'embedded.example.com'
  await defined({ group, versions: { v1: { type: 'object', properties: { spec: { ...anything, 'x-kubernetes-embedded-resource': true } } } } })
  await appears(group, 'v1')
  const spec = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'inner' }, whatever: { a: 'b' } }
  assert.equal((await create({ apiVersion: `${group}/v1`, kind: 'Foo', metadata: { name: 'test' }, spec })).code, 0)
  assert.deepEqual((await kubectl().json('get foos.embedded.example.com test')).spec, spec)
})

test('CustomResourcePublishOpenAPI works for multiple CRDs of different groups', async () => {
  for (const group of ['one.example.org', 'two.example.org']) await defined({ group, versions: { v1: bars } })
  for (const group of ['one.example.org', 'two.example.org']) assert.ok((await appears(group, 'v1')).properties?.spec)
})

test('CustomResourcePublishOpenAPI works for multiple CRDs of same group but different versions', async () => {
  const group = 'versions.example.com'
  await defined({ group, versions: { v2: bars, v3: anything } })
  assert.ok((await appears(group, 'v2')).properties?.spec)
  assert.equal((await appears(group, 'v3')).properties?.spec, undefined)
})

test('CustomResourcePublishOpenAPI works for multiple CRDs of same group and version but different kinds', async () => {
  const group = 'kinds.example.com'
  for (const kind of ['Foo', 'Bar']) await defined({ group, kind, versions: { v4: bars } })
  for (const kind of ['Foo', 'Bar']) assert.ok((await appears(group, 'v4', kind)).properties?.spec)
})

test('CustomResourcePublishOpenAPI updates the published spec when one version gets renamed', async () => {
  const group = 'renamed.example.com'
  const { metadata } = await defined({ group, versions: { v2: bars, v3: bars } })
  await appears(group, 'v3')
  const body = [
    { op: 'test', path: '/spec/versions/1/name', value: 'v3' },
    { op: 'replace', path: '/spec/versions/1/name', value: 'v4' },
  ]
  await clients()
    .config.makeApiClient(ApiextensionsV1Api)
    .patchCustomResourceDefinition({ name: metadata?.name ?? '', body }, jsonPatch)
  await appears(group, 'v4')
  await disappears(group, 'v3')
  assert.ok(await published(group, 'v2', 'Foo'))
})

test('CustomResourcePublishOpenAPI removes definition from spec when one version gets changed to not be served', async () => {
  const group = 'unserved.example.com'
  const { metadata } = await defined({ group, versions: { v5: bars, v6alpha1: bars } })
  await appears(group, 'v6alpha1')
  const body = [{ op: 'replace', path: '/spec/versions/1/served', value: false }]
  await clients()
    .config.makeApiClient(ApiextensionsV1Api)
    .patchCustomResourceDefinition({ name: metadata?.name ?? '', body }, jsonPatch)
  await disappears(group, 'v6alpha1')
  assert.ok(await published(group, 'v5', 'Foo'))
})
