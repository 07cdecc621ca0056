/**
 * Tests of the conformance suite for definitions of custom resources
 * (`test/e2e/apimachinery/{custom_resource_definition,crd_watch,crd_conversion_webhook}.go`).
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiextensionsV1Api, ApisApi, CustomObjectsApi, Watch } from '@kubernetes/client-node'
import { conversionWebhook } from '../../../conversion/webhook.ts'
import { widget, widgetDefinition, group as widgets } from '../../../conversion/widgets.ts'
import { waitFor } from '../../../support/wait-for.ts'
import { conformanceClients, merging } from '../../support/clients.ts'
import { define, definitionOf } from '../../support/definitions.ts'

const clients = conformanceClients({ controllers: [] })
const extensions = () => clients().config.makeApiClient(ApiextensionsV1Api)
const custom = () => clients().config.makeApiClient(CustomObjectsApi)

type Custom = Readonly<Record<string, unknown>> & {
  readonly metadata: { readonly name: string; readonly resourceVersion: string }
}

test(
  'CustomResourceDefinition resources Simple CustomResourceDefinition creating/deleting custom resource ' +
    'definition objects works',
  async () => {
    const { metadata } = await define(clients(), { group: 'simple.example.com' })
    const name = metadata?.name ?? ''
    await extensions().deleteCustomResourceDefinition({ name })
    await waitFor('it to go', () =>
      extensions()
        .readCustomResourceDefinition({ name })
        .then(
          () => false,
          ({ code }) => code === 404,
        ),
    )
  },
)

test(
  'CustomResourceDefinition resources Simple CustomResourceDefinition listing custom resource definition objects ' +
    'works',
  async () => {
    for (const kind of ['A', 'B', 'C'])
      await extensions().createCustomResourceDefinition({ body: definitionOf({ group: 'listed.example.com', kind }) })
    const labelSelector = 'group=listed.example.com'
    const list = async () =>
      (await extensions().listCustomResourceDefinition({ labelSelector })).items.map(({ metadata }) => metadata?.name)
    assert.deepEqual(await list(), ['as.listed.example.com', 'bs.listed.example.com', 'cs.listed.example.com'])
    await extensions().deleteCollectionCustomResourceDefinition({ labelSelector })
    await waitFor('all to go', async () => (await list()).length === 0)
  },
)

test(
  'CustomResourceDefinition resources Simple CustomResourceDefinition getting/updating/patching custom resource ' +
    'definition status sub-resource works',
  async () => {
    const { metadata } = await define(clients(), { group: 'status.example.com' })
    const name = metadata?.name ?? ''
    const read = await extensions().readCustomResourceDefinitionStatus({ name })
    const condition = { type: 'StatusUpdate', status: 'True', reason: 'E2E', message: 'Set by a test' }
    const body = { ...read, status: { ...read.status!, conditions: [...(read.status?.conditions ?? []), condition] } }
    const replaced = await extensions().replaceCustomResourceDefinitionStatus({ name, body })
    assert.equal(replaced.status?.conditions?.at(-1)?.message, 'Set by a test')
    const patch = { status: { conditions: [{ ...condition, type: 'StatusPatched' }] } }
    const patched = await extensions().patchCustomResourceDefinitionStatus({ name, body: patch }, merging)
    assert.deepEqual(
      patched.status?.conditions?.map(({ type }) => type),
      ['StatusPatched'],
    )
    assert.equal((await extensions().readCustomResourceDefinition({ name })).spec.names.kind, 'Foo')
  },
)

test(
  'CustomResourceDefinition resources ' + 'should include custom resource definition resources in discovery documents',
  async () => {
    const groups = await clients().config.makeApiClient(ApisApi).getAPIVersions()
    const group = groups.groups.find(({ name }) => name === 'apiextensions.k8s.io')
    assert.ok(group?.versions.some(({ groupVersion }) => groupVersion === 'apiextensions.k8s.io/v1'))
    const { resources } = await extensions().getAPIResources()
    assert.ok(
      resources.some(({ name, kind }) => name === 'customresourcedefinitions' && kind === 'CustomResourceDefinition'),
    )
  },
)

test('CustomResourceDefinition resources custom resource defaulting for requests and from storage works', async () => {
  const properties = (b: object) => ({
    type: 'object',
    properties: { a: { type: 'string', default: 'A' }, b: { type: 'string', ...b } },
  })
  const group = 'defaults.example.com'
  const { metadata } = await define(clients(), { group, versions: { v1: properties({}) } })
  const of = { group, version: 'v1', namespace: 'default', plural: 'foos' }
  const made = await custom().createNamespacedCustomObject({
    ...of,
    body: { apiVersion: `${group}/v1`, kind: 'Foo', metadata: { name: 'foo' } },
  })
  assert.deepEqual([made.a, made.b], ['A', undefined])
  const versions = definitionOf({ group, versions: { v1: properties({ default: 'B' }) } }).spec.versions
  await extensions().patchCustomResourceDefinition(
    { name: metadata?.name ?? '', body: { spec: { versions } } },
    merging,
  )
  await waitFor('the default', async () => (await custom().getNamespacedCustomObject({ ...of, name: 'foo' })).b === 'B')
  const old = definitionOf({
    group,
    versions: { v1: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string', default: 'B' } } } },
  }).spec.versions
  await extensions().patchCustomResourceDefinition(
    { name: metadata?.name ?? '', body: { spec: { versions: old } } },
    merging,
  )
  const other = async (name: string) =>
    (await custom().createNamespacedCustomObject({
      ...of,
      body: { apiVersion: `${group}/v1`, kind: 'Foo', metadata: { name } },
    })) as Custom
  let made2: Custom | undefined
  let count = 0
  await waitFor('the other default to go', async () => (made2 = await other(`foo-${count++}`)).a === undefined)
  assert.equal(made2?.b, 'B')
  assert.equal((await custom().getNamespacedCustomObject({ ...of, name: 'foo' })).a, 'A', 'what was stored stays')
})

test('CustomResourceDefinition Watch watch on custom resource definition objects', async (t) => {
  const group = 'watched.example.com'
  await define(clients(), { group })
  const events: string[] = []
  const path = `/apis/${group}/v1/namespaces/default/foos`
  const controller = await new Watch(clients().config).watch(
    path,
    {},
    (type, { metadata }: Custom) => events.push(`${type} ${metadata.name}`),
    () => {},
  )
  t.after(() => controller.abort())
  const of = { group, version: 'v1', namespace: 'default', plural: 'foos' }
  for (const name of ['a', 'b'])
    await custom().createNamespacedCustomObject({
      ...of,
      body: { apiVersion: `${group}/v1`, kind: 'Foo', metadata: { name } },
    })
  for (const name of ['a', 'b'])
    await custom().patchNamespacedCustomObject({ ...of, name, body: { spec: { n: 5 } } }, merging)
  for (const name of ['a', 'b']) await custom().deleteNamespacedCustomObject({ ...of, name })
  const expected = ['ADDED a', 'ADDED b', 'MODIFIED a', 'MODIFIED b', 'DELETED a', 'DELETED b']
  await waitFor('the events', () => events.length >= expected.length)
  assert.deepEqual(events, expected)
})

test('CustomResourceConversionWebhook', async (t) => {
  const { clientConfig } = await conversionWebhook(t)
  await extensions().createCustomResourceDefinition({
    body: widgetDefinition({ clientConfig, versions: ['v1', 'v2'] }) as ReturnType<typeof definitionOf>,
  })
  const of = (version: string) => ({ group: widgets, version, namespace: 'default', plural: 'widgets' })
  await waitFor('widgets to be served', () =>
    custom()
      .listNamespacedCustomObject(of('v2'))
      .then(() => true),
  )

  await t.test('should be able to convert from CR v1 to CR v2', async () => {
    await custom().createNamespacedCustomObject({
      ...of('v1'),
      body: widget('v1', 'first', { hostPort: 'localhost:8080' }),
    })
    const { spec } = (await custom().getNamespacedCustomObject({ ...of('v2'), name: 'first' })) as Custom
    assert.deepEqual(spec, { host: 'localhost', port: 8080 })
  })

  await t.test('should be able to convert a non homogeneous list of CRs', async () => {
    const versions = (stored: 'v1' | 'v2') =>
      (widgetDefinition({ clientConfig, storage: stored, versions: ['v1', 'v2'] }) as ReturnType<typeof definitionOf>)
        .spec
    await extensions().patchCustomResourceDefinition(
      { name: `widgets.${widgets}`, body: { spec: versions('v2') } },
      merging,
    )
    await custom().createNamespacedCustomObject({
      ...of('v2'),
      body: widget('v2', 'second', { host: 'other', port: 80 }),
    })
    for (const [version, expected] of [
      ['v1', [{ hostPort: 'localhost:8080' }, { hostPort: 'other:80' }]],
      [
        'v2',
        [
          { host: 'localhost', port: 8080 },
          { host: 'other', port: 80 },
        ],
      ],
    ] as const) {
      const { items } = (await custom().listNamespacedCustomObject(of(version))) as { items: Custom[] }
      assert.deepEqual(
        items.map(({ spec }) => spec),
        expected,
      )
    }
  })
})
