/** 64-bit integers stay exact on every path into the store and out of it. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { envelope, field, number } from '../../../src/machinery/protobuf/encode.fixture.ts'
import { openLogStore } from '../../../src/storage/log/index.ts'
import { define, definitionOf, gadgetsPath } from '../../crd/definitions.ts'
import { type Client, http1Client, until } from '../../support/api-client.ts'
import { serve, startTestServer } from '../../support/api-server.ts'
import { gadgetTextOf, integers, integersIn, podOf, podsPath, secondsIn } from './integers.ts'

const nList = {
  list: { type: 'array', items: { type: 'object', properties: { n: { type: 'integer', format: 'int64' } } } },
}

/** A kind with many integers: built-in or a custom resource. */
interface Kind {
  readonly path: string
  readonly textOf: (name: string, values: readonly bigint[]) => string
  readonly read: (text: string) => readonly bigint[]
}

const kinds: Readonly<Record<string, Kind>> = {
  pods: { path: podsPath, textOf: podOf, read: secondsIn },
  'custom resources': { path: gadgetsPath, textOf: gadgetTextOf, read: (text) => integersIn(text, 'n') },
}

async function startClient(t: TestContext): Promise<Client> {
  const client = http1Client(t, await startTestServer(t))
  await define(client, definitionOf({ spec: nList }))
  return client
}

async function textOf(
  client: Client,
  method: string,
  path: string,
  body?: string | Buffer,
  headers?: Record<string, string>,
): Promise<string> {
  const { status, bytes } = await client.request(method, path, { body, headers })
  assert.ok(status < 300, bytes.toString())
  return bytes.toString()
}

const json = { 'content-type': 'application/json' }
const yaml = { 'content-type': 'application/yaml' }

/** Makes JSON into YAML that is not JSON, which has another parser. */
const asYaml = (text: string): string => `--- # yaml\n${text}`

for (const [name, { path, textOf: write, read }] of Object.entries(kinds))
  describe(name, () => {
    const values = integers(7, 60)

    test('are stored and returned exactly, from JSON and YAML', async (t) => {
      const client = await startClient(t)
      for (const [way, headers, body] of [
        ['json', json, write('json', values)],
        ['yaml', yaml, asYaml(write('yaml', values))],
        ['yaml-json', yaml, write('yaml-json', values)],
      ] as const) {
        assert.deepEqual(read(await textOf(client, 'POST', path, body, headers)), values)
        assert.deepEqual(read(await textOf(client, 'GET', `${path}/${way}`)), values)
        assert.deepEqual(
          read(await textOf(client, 'GET', `${path}/${way}`, undefined, { accept: 'application/yaml' })),
          values,
        )
        assert.deepEqual(read(await textOf(client, 'GET', `${path}/${way}?pretty=1`)), values)
        assert.deepEqual(
          read(await textOf(client, 'PUT', `${path}/${way}`, await textOf(client, 'GET', `${path}/${way}`), json)),
          values,
        )
      }
    })

    test('are listed and watched exactly, also as tables', async (t) => {
      const client = await startClient(t)
      const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
      const events: string[] = []
      const watch = client.lines(`${path}?watch=1`, (line) => events.push(line))
      assert.equal(await watch.status, 200)
      await textOf(client, 'POST', path, write('one', values), json)
      await until('an event', () => events.length > 0)
      assert.deepEqual(read(events[0]!), values)
      watch.cancel()
      assert.deepEqual(read(await textOf(client, 'GET', path)), values)
      assert.deepEqual(read(await textOf(client, 'GET', path, undefined, { accept: 'application/yaml' })), values)
      assert.deepEqual(read(await textOf(client, 'GET', `${path}?includeObject=Object`, undefined, table)), values)
    })

    test('are the same after a restart', async (t) => {
      const directory = mkdtempSync(join(tmpdir(), 't8s-integers-'))
      t.after(() => rmSync(directory, { recursive: true, force: true }))
      const store = await openLogStore({ directory })
      const server = await serve(t, store)
      const client = http1Client(t, server)
      await define(client, definitionOf({ spec: nList }))
      await textOf(client, 'POST', path, write('one', values), json)
      client.close()
      await server.stop(0)
      await store.close()
      const again = await openLogStore({ directory })
      t.after(() => again.close())
      const other = http1Client(t, await serve(t, again))
      await until('it is served', async () => (await other.request('GET', path)).status === 200)
      assert.deepEqual(read(await textOf(other, 'GET', `${path}/one`)), values)
    })
  })

test('a pod in protobuf is stored and returned exactly', async (t) => {
  const client = await startClient(t)
  const values = integers(8, 60)
  const toleration = (seconds: bigint, i: number): Buffer =>
    field(22, [field(1, `k${i}`), field(2, 'Exists'), field(4, 'NoExecute'), number(5, seconds)])
  const pod = envelope('v1', 'Pod', [
    field(1, [field(1, 'proto')]),
    field(2, [field(2, [field(1, 'a'), field(2, 'x')]), ...values.map(toleration)]),
  ])
  assert.deepEqual(
    secondsIn(await textOf(client, 'POST', podsPath, pod, { 'content-type': 'application/vnd.kubernetes.protobuf' })),
    values,
  )
  assert.deepEqual(secondsIn(await textOf(client, 'GET', `${podsPath}/proto`)), values)
})

test('integers above 64 bits are rejected in built-in kinds, and are floats in custom resources', async (t) => {
  const client = await startClient(t)
  for (const digits of ['9223372036854775808', '-9223372036854775809', '99999999999999999999999']) {
    const body = podOf('p', [1n]).replace('"tolerationSeconds":1', `"tolerationSeconds":${digits}`)
    for (const [text, headers] of [
      [body, json],
      [body, yaml],
    ] as const) {
      const { status, bytes } = await client.request('POST', podsPath, { body: text, headers })
      assert.equal(status, 400)
      const why =
        `cannot unmarshal number ${digits} into Go struct field Toleration.spec.tolerations.tolerationSeconds of ` +
        'type int64'
      assert.ok(bytes.toString().includes(why), bytes.toString())
    }
    const gadget = gadgetTextOf('g', [1n]).replace('"n":1', `"n":${digits}`)
    const { status, bytes } = await client.request('POST', gadgetsPath, { body: gadget })
    assert.equal(status, 422)
    assert.match(bytes.toString(), /spec\.list\[0\]\.n in body must be of type int64: \\"float64\\"/)
  }
})
