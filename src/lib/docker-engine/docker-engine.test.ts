import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { DockerEngine, type EngineError, engineAddress, isMissing, jsonLines } from './index.ts'

async function engineOf(t: TestContext, answer: RequestListener, version = '1.41'): Promise<DockerEngine> {
  const server = createServer((request, response) => {
    if (request.url === '/_ping') response.writeHead(200, { 'api-version': version }).end('OK')
    else answer(request, response)
  })
  server.on('upgrade', (_, socket) => {
    socket.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\nfirst ')
    socket.pipe(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const engine = new DockerEngine(engineAddress(`tcp://127.0.0.1:${(server.address() as AddressInfo).port}`, {}))
  t.after(() => {
    engine.close()
    server.closeAllConnections()
    server.close()
  })
  return engine
}

test('requests have the version that client and engine know, and their parameters', async (t) => {
  const engine = await engineOf(t, (request, response) => response.end(JSON.stringify({ url: request.url })))
  const { url } = await engine.json<{ url: string }>({
    path: '/containers/json',
    query: { all: true, filters: { label: ['a=b'] }, size: undefined },
  })
  assert.equal(decodeURIComponent(url), '/v1.41/containers/json?all=true&filters={"label":["a=b"]}')
})

test('an engine that is too old, or does not run, is an error with a next step', async (t) => {
  const old = await engineOf(t, () => {}, '1.24')
  await assert.rejects(old.version(), /too old: version 19.03 or a later one is needed/)
  const missing = new DockerEngine(engineAddress('unix:///nonexistent/docker.sock', {}))
  await assert.rejects(
    missing.version(),
    /unix:\/\/\/nonexistent\/docker.sock does not answer .*start it, or set DOCKER_HOST/,
  )
})

test('errors have the message of the engine', async (t) => {
  const engine = await engineOf(t, (_, response) =>
    response.writeHead(404).end(JSON.stringify({ message: 'No such container: x' })),
  )
  await assert.rejects(
    engine.json({ path: '/containers/x/json' }),
    (error) => isMissing(error) && (error as EngineError).message === 'No such container: x',
  )
})

test('a hijacked connection carries both directions, and what came with the answer', async (t) => {
  const engine = await engineOf(t, () => {})
  const connection = await engine.hijack({ path: '/exec/x/start', body: {} })
  connection.write('second ')
  connection.end('third')
  assert.match(await text(connection), /first .*second third/)
})

test('values of a stream are read one by one, however they are cut', async () => {
  async function* chunks() {
    for (const part of ['{"a":1}\r\n{"a"', ':2}\n', '{"a":3}']) yield Buffer.from(part)
  }
  const values = []
  for await (const value of jsonLines<{ a: number }>(chunks())) values.push(value.a)
  assert.deepEqual(values, [1, 2, 3])
})
