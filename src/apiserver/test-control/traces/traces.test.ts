import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore } from '../../../storage/memory/index.ts'
import type { Request, Response } from '../../http/exchange.ts'
import { RequestContext } from '../../request-info/request-context.ts'
import { requestInfo } from '../../request-info/request-info.ts'
import { RecordedBodies } from '../recorded-bodies.ts'
import { type RequestLimits, RequestRecorder } from './request-recorder.ts'
import { Traces } from './traces.ts'
import { VersionRecorder } from './version-recorder.ts'

const type = { 'content-type': 'application/json' }
const answer = (status: number, body: object): Response => ({
  status,
  headers: type,
  body: Buffer.from(JSON.stringify(body)),
})

function server(limits?: RequestLimits) {
  const store = memoryStore()
  const bodies = new RecordedBodies()
  const requests = new RequestRecorder({ bodies, faultOf: () => undefined, now: () => 1000, limits })
  const stores = [store]
  const versions = new VersionRecorder(stores, () => 2000, { versions: 3, bytes: 10_000 })
  const traces = new Traces({ stores, requests, versions, now: () => 3000 })
  return { store, bodies, requests, traces }
}

type Server = ReturnType<typeof server>

interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a request, which is answered with `response`. */
async function send({ bodies, requests }: Server, { method, path, body = '', headers = {} }: Sent, response: Response) {
  let close = (): void => {}
  const all: Record<string, string> = { 'content-type': 'application/json', 'user-agent': 'agent/1', ...headers }
  const request = Object.assign(new RequestContext(), {
    ...{ method, path, rawQuery: '', received: performance.now(), bodyBytes: body.length },
    header: (name: string) => all[name],
    hasHeaders: (prefix: string) => Object.keys(all).some((name) => name.startsWith(prefix)),
    body: () => Promise.resolve(Buffer.from(body)),
    onClose: (callback: () => void) => (close = callback),
    info: requestInfo(method, path, new URLSearchParams()),
    user: { name: 'admin', groups: ['system:masters'] },
  }) as unknown as Request
  bodies.record(request)
  requests.authenticated(request)
  await request.body(1)
  if (all['impersonate-user']) request.user = { name: all['impersonate-user'], groups: ['viewers'] }
  const sent = requests.answered(request, response)
  return { sent, close: () => close() }
}

const key = (name: string, resource = 'configmaps'): string => `/registry/${resource}/default/${name}`
const put = ({ store }: Server, name: string, revision: number, data: object, resource?: string) =>
  store.commit({
    conditions: [{ key: key(name, resource), revision }],
    operations: [{ key: key(name, resource), value: Buffer.from(JSON.stringify({ metadata: { name }, data })) }],
  })
const configMaps = '/api/v1/namespaces/default/configmaps'

test('a trace has the requests, versions and earlier states since its beginning, without secret values', async () => {
  const kit = server()
  await send(kit, { method: 'GET', path: configMaps }, answer(200, {}))
  await put(kit, 'old', 0, { a: 1 })
  await put(kit, 'same', 0, { b: 1 })
  const { name } = await kit.traces.begin()
  await put(kit, 'old', 2, { a: 2 })
  await put(kit, 'hidden', 0, { a: 'Z2VoZWlt' }, 'secrets')
  await kit.store.commit({ conditions: [], operations: [{ key: key('old'), delete: true }] })
  const secrets = '/api/v1/namespaces/default/secrets'
  const body = JSON.stringify({ metadata: { generateName: 's-' }, stringData: { a: 'geheim' } })
  const created = { metadata: { name: 's-1', resourceVersion: '5' }, data: { a: 'Z2VoZWlt' } }
  await send(kit, { method: 'POST', path: secrets, body, headers: { authorization: 'Bearer x' } }, answer(201, created))
  const asJane = { 'impersonate-user': 'jane' }
  await send(kit, { method: 'GET', path: configMaps, headers: asJane }, answer(403, { kind: 'Status' }))
  const trace = await kit.traces.read(name, { name: 'a test', error: 'expected geheim', outcome: 'failed' })

  assert.deepEqual(
    trace.requests.map(({ verb, name, code, user, impersonator, groups, wrote }) => [
      ...[verb, name, code, user, impersonator, groups, wrote],
    ]),
    [
      ['create', 's-1', 201, 'admin', undefined, undefined, 5],
      ['list', '', 403, 'jane', 'admin', ['viewers'], undefined],
    ],
  )
  assert.deepEqual(
    trace.versions.map(({ type, resource, name, revision, time }) => [type, resource, name, revision, time]),
    [
      ['put', 'configmaps', 'old', 4, 2000],
      ['put', 'secrets', 'hidden', 5, 2000],
      ['delete', 'configmaps', 'old', 6, 2000],
    ],
  )
  assert.deepEqual(
    trace.objects.map(({ name, namespace, revision, object }) => [name, namespace, revision, object]),
    [
      ['old', 'default', 2, { metadata: { name: 'old' }, data: { a: 1 } }],
      ['same', 'default', 3, { metadata: { name: 'same' }, data: { b: 1 } }],
    ],
  )
  assert.doesNotMatch(JSON.stringify(trace), /geheim|Z2VoZWlt|Bearer/)
  assert.match(trace.test.error ?? '', /^expected redacted \d$/)
  assert.equal(trace.requests[0]?.request?.text, '{"metadata":{"generateName":"s-"},"stringData":{"a":"redacted 2"}}')
})

test('the limits of a recording count what they leave out', async () => {
  const kit = server({ requests: 2, bytes: 150 })
  const { name } = await kit.traces.begin()
  const body = JSON.stringify({ metadata: { name: 'a' }, data: { text: 'x'.repeat(60) } })
  for (let i = 0; i < 3; i++) await send(kit, { method: 'POST', path: configMaps, body }, answer(201, {}))
  for (let i = 0; i < 5; i++) await put(kit, `m${i}`, 0, {})
  const { losses, requests, versions } = await kit.traces.read(name, { name: '' })
  assert.deepEqual(losses, { requests: 1, bodies: 1, versions: 2, objects: 0, notes: [] })
  assert.deepEqual(
    requests.map(({ number, request }) => [number, request?.text.length, request?.omitted?.slice(0, 14)]),
    [
      [2, 0, 'It was dropped'],
      [3, body.length, undefined],
    ],
  )
  assert.equal(versions.length, 3)
})

test('large bodies are left out, long ones are cut off, and other types are not shown', async () => {
  const kit = server()
  const { name } = await kit.traces.begin()
  const text = 'x'.repeat(20_000)
  await send(
    kit,
    { method: 'POST', path: configMaps, body: 'k8s\0', headers: { 'content-type': 'x/y' } },
    answer(200, { text }),
  )
  const large = { status: 200, headers: type, body: [Buffer.alloc(700_000), Buffer.alloc(700_000)] }
  await send(kit, { method: 'GET', path: configMaps }, large)
  const generated = {
    *[Symbol.iterator]() {
      yield Buffer.from('{"a":')
      yield Buffer.from('1}')
    },
  }
  const { sent } = await send(kit, { method: 'GET', path: configMaps }, { ...large, body: generated })
  assert.equal(Buffer.concat([...(sent.body as Iterable<Buffer>)]).toString(), '{"a":1}')
  const [first, second, third] = (await kit.traces.read(name, { name: '' })).requests
  assert.deepEqual(first?.request, { text: '', bytes: 4, omitted: 'Its type is x/y, which is not shown.' })
  assert.equal(first?.response?.text.length, 16_384)
  assert.match(first?.response?.omitted ?? '', /cut off after 16384 characters/)
  assert.deepEqual(second?.response, { text: '', bytes: 1_400_000, omitted: 'It is larger than 1 MiB.' })
  assert.deepEqual(third?.response, { text: '{"a":1}', bytes: 7 })
})

test('a watch has a duration when it has ended, and its number of events', async () => {
  const kit = server()
  const { name } = await kit.traces.begin()
  const watch: Response = { status: 200, headers: type, body: () => {}, sentEvents: () => 7 }
  const { close } = await send(kit, { method: 'GET', path: `${configMaps}` }, watch)
  const read = async () => (await kit.traces.read(name, { name: '' })).requests[0]
  assert.deepEqual([(await read())?.durationMs, (await read())?.events], [undefined, 7])
  close()
  assert.equal(typeof (await read())?.durationMs, 'number')
})

test('nothing is recorded without a trace, and traces are removed', async () => {
  const kit = server()
  const { name } = await kit.traces.begin()
  const second = await kit.traces.begin()
  kit.traces.remove(name)
  await assert.rejects(kit.traces.read(name, { name: '' }), /traces "1" not found/)
  await send(kit, { method: 'GET', path: configMaps }, answer(200, {}))
  assert.equal((await kit.traces.read(second.name, { name: '' })).requests.length, 1)
  kit.traces.remove(undefined)
  await send(kit, { method: 'GET', path: configMaps }, answer(200, {}))
  const third = await kit.traces.begin()
  assert.equal((await kit.traces.read(third.name, { name: '' })).requests.length, 0)
})
