/**
 * From a definition's creation to its end: what is served when, what clients see of changes, and what becomes of the
 * objects.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { openLogStore } from '../../src/storage/log/index.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { prefixRange } from '../../src/storage/store.ts'
import { type Client, clientOf, type Json, json, until } from '../support/api-client.ts'
import { serve, startTestServer, type TestServer } from '../support/api-server.ts'
import {
  addColumn,
  type DefinitionSpec,
  define,
  definitionOf,
  definitionsPath,
  gadgetOf,
  gadgetsPath,
  mergePatch,
  redefine,
  served,
} from './definitions.ts'

const connect = (t: TestContext, server: TestServer): Client => clientOf(t, 'HTTP/2', server)
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const asTable = 'application/json;as=Table;v=v1;g=meta.k8s.io'

const textOf = async (client: Client, path: string, accept = 'application/json'): Promise<string> =>
  (await client.request('GET', path, { headers: { accept } })).bytes.toString()

/** Everything that shows resources. */
const shows = async (client: Client): Promise<Readonly<Record<string, boolean>>> => ({
  list: (await client.request('GET', gadgetsPath)).status === 200,
  table: (await textOf(client, gadgetsPath, asTable)).includes('"kind":"Table"'),
  groups: (await textOf(client, '/apis')).includes('"example.com"'),
  resources: (await textOf(client, '/apis/example.com/v1')).includes('"gadgets"'),
  aggregated: (await textOf(client, '/apis', aggregated)).includes('"gadgets"'),
  'openapi v3 index': (await textOf(client, '/openapi/v3')).includes('apis/example.com/v1'),
  'openapi v3': (await textOf(client, '/openapi/v3/apis/example.com/v1')).includes('com.example.v1.Gadget'),
  'openapi v3 protobuf': (
    await textOf(
      client,
      '/openapi/v3/apis/example.com/v1',
      'application/com.github.proto-openapi.spec.v3.v1.0+protobuf',
    )
  ).includes('com.example.v1.Gadget'),
  'openapi v2': (await textOf(client, '/openapi/v2')).includes('com.example.v1.Gadget'),
  'openapi v2 protobuf': (
    await textOf(client, '/openapi/v2', 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf')
  ).includes('com.example.v1.Gadget'),
})

const storeAsOther = ({ versions }: DefinitionSpec): void => {
  for (const version of versions) version.storage = !version.storage
}

const all = (shown: Readonly<Record<string, boolean>>, value: boolean): Record<string, boolean> =>
  Object.fromEntries(Object.keys(shown).map((key) => [key, value]))

describe('custom resource definitions', { concurrency: 4 }, () => {
  test('are shown everywhere as soon as they are served, and nowhere once they are gone', async (t) => {
    const client = connect(t, await startTestServer(t))
    const before = await shows(client)
    assert.deepEqual(before, all(before, false))
    await define(client)
    const shown = await shows(client)
    assert.deepEqual(shown, all(shown, true))
    await client.request('DELETE', `${definitionsPath}/gadgets.example.com`)
    await until('gadgets are gone', async () => (await client.request('GET', gadgetsPath)).status === 404)
    await until(
      'the definition is gone',
      async () => (await client.request('GET', `${definitionsPath}/gadgets.example.com`)).status === 404,
    )
    const after = await shows(client)
    assert.deepEqual(after, all(after, false))
  })

  test('and their objects survive a restart', async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 't8s-crd-'))
    t.after(() => rmSync(directory, { recursive: true, force: true }))
    const first = await openLogStore({ directory })
    const server = await serve(t, first)
    const client = connect(t, server)
    await define(client)
    const created = await client.request('POST', gadgetsPath, { body: gadgetOf('a', { n: 7 }) })
    await server.stop()
    await first.close()
    const second = await openLogStore({ directory })
    const again = await serve(t, second)
    t.after(async () => {
      await again.stop(0)
      await second.close()
    })
    // An established definition is served from the first request on.
    const found = await connect(t, again).request('GET', `${gadgetsPath}/a`)
    assert.equal(found.status, 200)
    assert.deepEqual(json(found), json(created))
  })

  test('that are deleted wait for the finalizers of their objects, and take no new ones', async (t) => {
    const client = connect(t, await startTestServer(t))
    await define(client)
    const held = { ...gadgetOf('held'), metadata: { name: 'held', finalizers: ['example.com/held'] } }
    await client.request('POST', gadgetsPath, { body: held })
    await client.request('POST', gadgetsPath, { body: gadgetOf('free') })
    await client.request('DELETE', `${definitionsPath}/gadgets.example.com`)
    await until(
      'what is free is deleted',
      async () => (await client.request('GET', `${gadgetsPath}/free`)).status === 404,
    )
    const refused = await client.request('POST', gadgetsPath, { body: gadgetOf('late') })
    assert.equal(refused.status, 403)
    assert.match(
      json(refused).message ?? '',
      /"late" is forbidden: create not allowed while custom resource definition is terminating/,
    )
    const definition = json<{ status: { conditions: { type: string; status: string; reason: string }[] } }>(
      await client.request('GET', `${definitionsPath}/gadgets.example.com`),
    )
    const terminating = definition.status.conditions.find(({ type }) => type === 'Terminating')
    assert.deepEqual([terminating?.status, terminating?.reason], ['True', 'InstanceDeletionInProgress'])
    assert.equal((await mergePatch(client, `${gadgetsPath}/held`, { metadata: { finalizers: null } })).status, 200)
    await until(
      'the definition is gone',
      async () => (await client.request('GET', `${definitionsPath}/gadgets.example.com`)).status === 404,
    )
    assert.equal((await client.request('GET', gadgetsPath)).status, 404)
  })

  test('that are deleted send DELETED for each of their objects and end their watches without an error', async (t) => {
    const client = connect(t, await startTestServer(t))
    await define(client)
    for (const name of ['a', 'b']) await client.request('POST', gadgetsPath, { body: gadgetOf(name) })
    const { resourceVersion } = json(await client.request('GET', gadgetsPath)).metadata
    const events: { type: string; object: Json }[] = []
    const watch = client.lines(`${gadgetsPath}?watch=true&resourceVersion=${resourceVersion}`, (line) =>
      events.push(JSON.parse(line) as { type: string; object: Json }),
    )
    assert.equal(await watch.status, 200)
    await client.request('DELETE', `${definitionsPath}/gadgets.example.com`)
    await watch.ended
    assert.deepEqual(events.map(({ type, object }) => `${type} ${object.metadata.name}`).sort(), [
      'DELETED a',
      'DELETED b',
    ])
  })

  test('end watches when they change, without an error, and the next watch continues from there', async (t) => {
    const client = connect(t, await startTestServer(t))
    await define(client)
    await client.request('POST', gadgetsPath, { body: gadgetOf('a') })
    const events: { type: string; object: Json }[] = []
    const watch = (revision: string) =>
      client.lines(`${gadgetsPath}?watch=true&resourceVersion=${revision}`, (line) =>
        events.push(JSON.parse(line) as { type: string; object: Json }),
      )
    const { resourceVersion } = json(await client.request('GET', gadgetsPath)).metadata
    const first = watch(resourceVersion)
    assert.equal(await first.status, 200)
    await client.request('POST', gadgetsPath, { body: gadgetOf('b') })
    await until('the event of b', () => events.length === 1)
    await redefine(client, addColumn('N'))
    await first.ended
    await client.request('POST', gadgetsPath, { body: gadgetOf('c') })
    const second = watch(events.at(-1)!.object.metadata.resourceVersion)
    await until('the event of c', () => events.length === 2)
    second.cancel()
    assert.deepEqual(
      events.map(({ type, object }) => `${type} ${object.metadata.name}`),
      ['ADDED b', 'ADDED c'],
    )
    // Labels and annotations of a definition change nothing that is served.
    const third = watch(events.at(-1)!.object.metadata.resourceVersion)
    assert.equal(await third.status, 200)
    await mergePatch(client, `${definitionsPath}/gadgets.example.com`, { metadata: { labels: { a: 'b' } } })
    await client.request('POST', gadgetsPath, { body: gadgetOf('d') })
    await until('the event of d', () => events.length === 3)
    third.cancel()
  })

  test('change while objects are written, and no write that was acknowledged is lost or refused', async (t) => {
    const server = await startTestServer(t)
    const client = connect(t, server)
    await define(client)
    const writers = [0, 1, 2, 3, 4, 5]
    const statuses = new Map<number, number>()
    let changing = true
    const count = (status: number): number => {
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      return status
    }
    const increments = new Map<string, number>()
    const write = async (id: number): Promise<void> => {
      const mine = connect(t, server)
      for (let i = 0; changing || i < 20; i++) {
        const name = `w${id}-${i % 5}`
        const path = `${gadgetsPath}/${name}`
        if (count((await mine.request('POST', gadgetsPath, { body: gadgetOf(name) })).status) === 201)
          increments.set(name, 0)
        const live = await mine.request('GET', path)
        if (count(live.status) !== 200) continue
        const object = json<Json & { spec: { n: number } }>(live)
        object.spec.n++
        if (count((await mine.request('PUT', path, { body: object })).status) === 200)
          increments.set(name, increments.get(name)! + 1)
      }
    }
    const change = async (): Promise<void> => {
      for (let i = 0; i < 15; i++) await redefine(client, addColumn(`N${i}`))
      changing = false
    }
    await Promise.all([...writers.map(write), change()])
    const { items } = json<{ items: { metadata: { name: string }; spec: { n: number } }[] }>(
      await client.request('GET', gadgetsPath),
    )
    assert.deepEqual(
      new Map(items.map(({ metadata, spec }) => [metadata.name, spec.n])),
      new Map([...increments].sort(([a], [b]) => (a < b ? -1 : 1))),
    )
    assert.deepEqual([...statuses.keys()].sort(), [200, 201, 409], JSON.stringify([...statuses]))
    assert.deepEqual(server.logLines, [])
  })

  test('take another version to store while objects are written, and all of them can be read in each', async (t) => {
    const server = await startTestServer(t)
    const client = connect(t, server)
    await define(client, definitionOf({ versions: ['v1', 'v1beta10'] }))
    let created = 0
    let changing = true
    const write = async (version: string): Promise<void> => {
      const mine = connect(t, server)
      while (changing) {
        const name = `o-${created++}`
        const { status, bytes } = await mine.request('POST', gadgetsPath.replace('v1', version), {
          body: gadgetOf(name, { n: 1, text: 'a' }, version),
        })
        assert.equal(status, 201, bytes.toString())
        const patched = await mergePatch(mine, `${gadgetsPath}/${name}`, { spec: { n: 2 } })
        assert.equal(patched.status, 200, patched.bytes.toString())
      }
    }
    const change = async (): Promise<void> => {
      try {
        for (let i = 0; i < 12; i++) await redefine(client, storeAsOther)
      } finally {
        changing = false
      }
    }
    await Promise.all([write('v1'), write('v1beta10'), write('v1'), change()])
    for (const version of ['v1', 'v1beta10']) {
      const path = gadgetsPath.replace('v1', version)
      const { items } = json<{ items: { apiVersion: string; metadata: { name: string }; spec: object }[] }>(
        await client.request('GET', path),
      )
      assert.equal(items.length, created)
      for (const item of items)
        assert.deepEqual([item.apiVersion, item.spec], [`example.com/${version}`, { n: 2, text: 'a' }])
      assert.equal(json(await client.request('GET', `${path}/o-0`)).metadata.name, 'o-0')
    }
    assert.deepEqual(server.logLines, [])
  })

  test('that are deleted while objects are created leave none behind', async (t) => {
    const server = await startTestServer(t)
    const client = connect(t, server)
    const statuses = new Set<number>()
    for (let round = 0; round < 5; round++) {
      await define(client)
      let defined = true
      const create = async (id: number): Promise<void> => {
        const mine = connect(t, server)
        for (let i = 0; defined; i++)
          statuses.add((await mine.request('POST', gadgetsPath, { body: gadgetOf(`o-${id}-${i}`) })).status)
        mine.close()
      }
      const remove = async (): Promise<void> => {
        await until('there are objects', async () => json(await client.request('GET', gadgetsPath)).items.length > 20)
        await client.request('DELETE', `${definitionsPath}/gadgets.example.com`)
        await until(
          'the definition is gone',
          async () => (await client.request('GET', `${definitionsPath}/gadgets.example.com`)).status === 404,
        )
        defined = false
      }
      await Promise.all([create(0), create(1), create(2), create(3), remove()])
      assert.equal(await server.store.count(prefixRange('/registry/example.com/gadgets/')), 0)
    }
    assert.deepEqual(
      [...statuses].filter((status) => ![201, 403, 404].includes(status)),
      [],
    )
    assert.deepEqual(server.logLines, [])
  })

  test('warn of versions that are deprecated, in their own words or with the version to use instead', async (t) => {
    const client = connect(t, await startTestServer(t))
    const definition = definitionOf({ versions: ['v1', 'v1beta1', 'v1alpha1'] }) as { spec: { versions: object[] } }
    const [stable, beta, alpha] = definition.spec.versions
    definition.spec.versions = [
      stable!,
      { ...beta, deprecated: true },
      { ...alpha, deprecated: true, deprecationWarning: 'stop it' },
    ]
    await define(client, definition)
    const warning = async (version: string) =>
      (await client.request('GET', gadgetsPath.replace('v1', version))).headers.warning
    assert.equal(await warning('v1'), undefined)
    assert.equal(
      await warning('v1beta1'),
      '299 - "example.com/v1beta1 Gadget is deprecated; use example.com/v1 Gadget"',
    )
    assert.equal(await warning('v1alpha1'), '299 - "stop it"')
  })

  test('are followed by every server on a store', async (t) => {
    const store = memoryStore()
    t.after(() => store.close())
    const [one, two] = await Promise.all([serve(t, store), serve(t, store)])
    const [here, there] = [connect(t, one), connect(t, two)]
    await define(here)
    await served(there)
    assert.equal((await there.request('POST', gadgetsPath, { body: gadgetOf('a', { n: 1, more: 'x' }) })).status, 201)
    await redefine(
      there,
      ({ versions }) =>
        (versions[0]!.schema.openAPIV3Schema.properties.spec.properties.more = { type: 'string', default: 'none' }),
    )
    for (const client of [here, there])
      await until('the new default is read', async () => {
        const { status, bytes } = await client.request('GET', `${gadgetsPath}/a`)
        return status === 200 && bytes.includes('"more":"none"')
      })
    // Names are given to one of two that ask for them at once.
    const claim = (client: Client, plural: string) =>
      client.request('POST', definitionsPath, {
        body: definitionOf({ plural, kind: 'Same', group: 'claims.example.com' }),
      })
    await Promise.all([claim(here, 'firsts'), claim(there, 'seconds')])
    const accepted = async (plural: string): Promise<string | undefined> =>
      json<{ status?: { conditions?: { type: string; status: string }[] } }>(
        await here.request('GET', `${definitionsPath}/${plural}.claims.example.com`),
      ).status?.conditions?.find(({ type }) => type === 'NamesAccepted')?.status
    await until(
      'both are judged',
      async () => (await accepted('firsts')) !== undefined && (await accepted('seconds')) !== undefined,
    )
    assert.deepEqual([await accepted('firsts'), await accepted('seconds')].sort(), ['False', 'True'])
    await there.request('DELETE', `${definitionsPath}/gadgets.example.com`)
    for (const client of [here, there])
      await until('gadgets are gone', async () => (await client.request('GET', gadgetsPath)).status === 404)
  })
})
