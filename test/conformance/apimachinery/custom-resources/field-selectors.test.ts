/**
 * Tests of the conformance suite for field selectors of custom resources
 * (`test/e2e/apimachinery/crd_selectable_fields.go`).
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeInformer, Watch } from '@kubernetes/client-node'
import { conversionWebhook, get, widgetsPath } from '../../../conversion/webhook.ts'
import { type Widget, widget, widgetDefinition } from '../../../conversion/widgets.ts'
import { waitFor } from '../../../support/wait-for.ts'
import { conformanceClients } from '../../support/clients.ts'

const clients = conformanceClients({ controllers: [] })

interface WidgetList {
  readonly metadata: object
  readonly items: Widget[]
}

const list = async (version: string, fieldSelector: string): Promise<WidgetList> =>
  (await clients().cluster.call(
    'GET',
    `${widgetsPath(version)}?fieldSelector=${encodeURIComponent(fieldSelector)}`,
  )) as unknown as WidgetList
const listed = async (version: string, fieldSelector: string) =>
  (await list(version, fieldSelector)).items.map(({ metadata }) => metadata.name)

/** Returns the names of the added and of the deleted objects of a watch, in the order of their events. */
async function watched(t: TestContext, version: string, fieldSelector: string) {
  const seen: Record<string, string[]> = { ADDED: [], DELETED: [] }
  const watching = await new Watch(clients().config).watch(
    widgetsPath(version),
    { fieldSelector },
    (type: string, { metadata }: Widget) => seen[type]?.push(metadata.name ?? ''),
    () => {},
  )
  t.after(() => watching.abort())
  return (expected: Record<string, string[]>) =>
    waitFor(`${version} ${fieldSelector}`, () => {
      assert.deepEqual(seen, expected)
      return true
    })
}

test('CustomResourceFieldSelectors MUST list and watch custom resources matching the field selector', async (t) => {
  const { cluster, config } = clients()
  const { clientConfig } = await conversionWebhook(t)
  const definition = widgetDefinition({ clientConfig, versions: ['v1', 'v2'] }) as {
    spec: { versions: { name: string }[] }
  }
  const fields: Record<string, object[]> = {
    v1: [{ jsonPath: '.spec.hostPort' }],
    v2: [{ jsonPath: '.spec.host' }, { jsonPath: '.spec.port' }],
  }
  const versions = definition.spec.versions.map((version) => ({ ...version, selectableFields: fields[version.name] }))
  await cluster.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    ...definition,
    spec: { ...definition.spec, versions },
  })
  const [host, hostPort, both] = ['spec.host=host1', 'spec.host=host1,spec.port=80', 'spec.hostPort=host1:80']
  await waitFor(
    'widgets to be served',
    async () => (await listed('v2', host)).length === 0 && (await listed('v1', both)).length === 0,
  )

  const byHost = await watched(t, 'v2', host)
  const byHostPort = await watched(t, 'v2', hostPort)
  const byBoth = await watched(t, 'v1', both)
  // An informer lists and watches: its cache has exactly the selected objects.
  const informer = makeInformer(
    config,
    `${widgetsPath('v2')}?fieldSelector=${encodeURIComponent(host)}`,
    () => list('v2', host) as never,
  )
  t.after(() => informer.stop())
  await informer.start()
  const informed = (...names: string[]) =>
    waitFor('the informer', () => {
      assert.deepEqual(
        informer.list().map(({ metadata }) => metadata?.name),
        names,
      )
      return true
    })

  for (const [name, spec] of [
    ['a', { host: 'host1', port: 80 }],
    ['b', { host: 'host1', port: 8080 }],
    ['c', { host: 'host2' }],
  ] as const)
    await cluster.call('POST', widgetsPath('v2'), widget('v2', name, spec))
  assert.deepEqual(await listed('v2', host), ['a', 'b'])
  assert.deepEqual(await listed('v2', hostPort), ['a'])
  assert.deepEqual(await listed('v1', both), ['a'])
  assert.deepEqual(await listed('v1', 'spec.hostPort=host1:8080'), ['b'])
  await byHost({ ADDED: ['a', 'b'], DELETED: [] })
  await byHostPort({ ADDED: ['a'], DELETED: [] })
  await byBoth({ ADDED: ['a'], DELETED: [] })
  await informed('a', 'b')

  await cluster.call(
    'DELETE',
    `${widgetsPath('v2')}?fieldSelector=${encodeURIComponent(hostPort)}&gracePeriodSeconds=0`,
  )
  const b = await get(cluster, 'v2', 'b')
  await cluster.call('PUT', `${widgetsPath('v2')}/b`, { ...b, spec: { ...b.spec, host: 'host2' } })
  assert.deepEqual(await listed('v2', host), [])
  assert.deepEqual(await listed('v2', hostPort), [])
  await byHost({ ADDED: ['a', 'b'], DELETED: ['a', 'b'] })
  await byHostPort({ ADDED: ['a'], DELETED: ['a'] })
  await byBoth({ ADDED: ['a'], DELETED: ['a'] })
  await informed()
})
