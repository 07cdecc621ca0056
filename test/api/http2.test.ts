/**
 * The listener on both protocols: many large responses on one connection, bodies that are too large or never end,
 * clients that disconnect, and all kinds of credentials.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { constants } from 'node:http2'
import { test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { clientOf, http2Client, json, protocols, until } from '../support/api-client.ts'
import {
  authority,
  clientPair,
  startTestServer,
  type TestServer,
  token,
  untrustedAuthority,
} from '../support/api-server.ts'
import { configMapOf, configMapsPath, createAll, nameOf } from '../support/objects.ts'

const maxBody = 3 * 1024 * 1024
const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
const selfReview = { body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' } }

/** Returns the number of requests in flight, from the metrics. */
async function inFlight(t: Parameters<typeof http2Client>[0], server: TestServer): Promise<number> {
  const client = http2Client(t, server)
  const text = (await client.request('GET', '/metrics')).bytes.toString()
  client.close()
  const sum = [...text.matchAll(/^apiserver_current_inflight_requests\{[^}]*\} (\d+)$/gm)].reduce(
    (total, [, value]) => total + Number(value),
    0,
  )
  return sum - 1 // the request for the metrics
}

/** Opens a raw TLS connection for HTTP/1.1. */
async function openRaw(server: TestServer) {
  const socket = connectTls({ port: server.port, host: '127.0.0.1', ca: authority.cert, ALPNProtocols: ['http/1.1'] })
  await once(socket, 'secureConnect')
  let received = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text
  })
  socket.on('error', () => {})
  return { socket, received: () => received, closed: new Promise((resolve) => socket.on('close', resolve)) }
}

test('16 concurrent lists of 5 MB on one HTTP/2 connection arrive completely, in three rounds', async (t) => {
  const server = await startTestServer(t)
  const client = http2Client(t, server)
  await createAll(client, configMapsPath, 0, 2000, (i) => configMapOf(i, {}, 2500))
  const tableOf = { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } }
  let bytes = 0
  const started = performance.now()
  for (let round = 0; round < 3; round++) {
    // One other request per round runs concurrently.
    const lists = Promise.all(
      Array.from({ length: 16 }, (_, i) =>
        client.request('GET', i % 4 ? configMapsPath : `${configMapsPath}?labelSelector=%21none`),
      ),
    )
    const table = client.request('GET', `${configMapsPath}?includeObject=Object`, tableOf)
    assert.equal((await client.request('GET', '/version')).status, 200)
    assert.equal(json(await table).kind, 'Table')
    for (const list of await lists) {
      assert.equal(list.status, 200)
      assert.ok(list.bytes.length > 5e6)
      bytes += list.bytes.length
      assert.equal(json(list).items.length, 2000)
    }
  }
  t.diagnostic(`${(bytes / 1e6).toFixed(0)} MB in ${(performance.now() - started).toFixed(0)} ms`)
  assert.deepEqual(server.logLines, [])
})

for (const protocol of protocols) {
  test(`a body above 3 MiB is 413, a smaller one is accepted (${protocol})`, async (t) => {
    const server = await startTestServer(t)
    const client = clientOf(t, protocol, server)
    const fits = JSON.stringify(configMapOf(0, {}, maxBody - 1000))
    assert.ok(Buffer.byteLength(fits) < maxBody)
    // The limit for a ConfigMap's data is 1 MiB: the body is read, the object is rejected.
    assert.equal((await client.request('POST', configMapsPath, { body: fits })).status, 422)
    for (const size of [maxBody + 1, 12 * 1024 * 1024]) {
      for (const [method, path, type] of [
        ['POST', configMapsPath, 'application/json'],
        ['PATCH', `${configMapsPath}/x`, 'application/merge-patch+json'],
        ['PATCH', `${configMapsPath}/x?fieldManager=m`, 'application/apply-patch+yaml'],
      ] as const) {
        const answer = await client.request(method, path, { body: ' '.repeat(size), headers: { 'content-type': type } })
        assert.deepEqual([answer.status, json(answer).reason], [413, 'RequestEntityTooLarge'])
      }
    }
    assert.equal((await client.request('GET', configMapsPath)).status, 200)
    assert.deepEqual(server.logLines, [])
  })

  test(`a client certificate of the CA authenticates its user, others are 401 (${protocol})`, async (t) => {
    const server = await startTestServer(t)
    const known = clientOf(t, protocol, server, await clientPair(authority, 'jane', ['dev', 'ops']))
    for (let i = 0; i < 2; i++) {
      const { status } = json<{ status: { userInfo: { username: string; groups: string[] } } }>(
        await known.request('POST', review, selfReview),
      )
      assert.deepEqual(
        [status.userInfo.username, status.userInfo.groups],
        ['jane', ['dev', 'ops', 'system:authenticated']],
      )
    }
    const unknown = clientOf(t, protocol, server, await clientPair(untrustedAuthority, 'jane', ['system:masters']))
    const refused = await unknown.request('GET', configMapsPath)
    assert.deepEqual([refused.status, json(refused).reason], [401, 'Unauthorized'])
  })

  test(`an invalid token is 401 everywhere, no token is anonymous (${protocol})`, async (t) => {
    const server = await startTestServer(t)
    const bad = clientOf(t, protocol, server, { token: 'wrong' })
    for (const path of [configMapsPath, '/healthz', '/api', '/nothing/here', `${configMapsPath}?watch=1`])
      assert.equal((await bad.request('GET', path)).status, 401, path)
    const nobody = clientOf(t, protocol, server, { token: '' })
    assert.equal((await nobody.request('GET', '/healthz')).status, 200)
    const forbidden = await nobody.request('GET', configMapsPath)
    assert.deepEqual(
      [forbidden.status, json(forbidden).message],
      [
        403,
        'configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" in API group "" in ' +
          'the namespace "default"',
      ],
    )
    for (const authorization of ['Basic YTpi', `Bearer  ${token}`, 'Bearer', '']) {
      assert.equal(
        (await nobody.request('GET', configMapsPath, { headers: { authorization } })).status,
        403,
        authorization,
      )
    }
    assert.equal(
      (await nobody.request('GET', configMapsPath, { headers: { authorization: `bearer ${token}` } })).status,
      200,
    )
  })

  test(`aborted lists and watches leave no requests in flight (${protocol})`, async (t) => {
    const server = await startTestServer(t)
    const client = clientOf(t, protocol, server)
    await createAll(client, configMapsPath, 0, 500, (i) => configMapOf(i, {}, 10_000))
    for (let round = 0; round < 20; round++) {
      const passing = clientOf(t, protocol, server)
      const streams = Array.from({ length: 10 }, (_, i) =>
        passing.lines(i % 2 ? configMapsPath : `${configMapsPath}?watch=1`, () => {}),
      )
      if (round % 2) await Promise.all(streams.map(({ status }) => status))
      for (const { cancel } of streams) cancel()
      if (round % 3 === 0) passing.close()
    }
    await until('no request is in flight', async () => (await inFlight(t, server)) === 0)
    assert.equal((await client.request('GET', configMapsPath)).status, 200)
    assert.deepEqual(server.logLines, [])
  })
}

test('incomplete bodies write and log nothing, and are dropped on disconnect (HTTP/2)', async (t) => {
  const server = await startTestServer(t)
  const client = http2Client(t, server)
  const body = Buffer.from(JSON.stringify(configMapOf(1)))
  for (let i = 0; i < 50; i++) {
    const stream = client.session.request({
      ':method': i % 2 ? 'POST' : 'PUT',
      ':path': i % 2 ? configMapsPath : `${configMapsPath}/${nameOf(1)}`,
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
    })
    stream.on('error', () => {})
    stream.write(body.subarray(0, body.length - 5))
    if (i % 3 === 0) await new Promise(setImmediate)
    stream.close(constants.NGHTTP2_CANCEL)
  }
  const leaving = http2Client(t, server)
  const stream = leaving.session.request({
    ':method': 'POST',
    ':path': configMapsPath,
    authorization: `Bearer ${token}`,
  })
  stream.on('error', () => {})
  stream.write(body.subarray(0, 10))
  await new Promise((resolve) => leaving.session.ping(resolve))
  leaving.close()
  await until('no request is in flight', async () => (await inFlight(t, server)) === 0)
  assert.equal(json(await client.request('GET', configMapsPath)).items.length, 0)
  assert.deepEqual(server.logLines, [])
})

test('incomplete bodies write and log nothing, and are dropped on disconnect (HTTP/1.1)', async (t) => {
  const server = await startTestServer(t)
  const body = JSON.stringify(configMapOf(1))
  const head = (length: string) =>
    `POST ${configMapsPath} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: ` +
    `application/json\r\n${length}\r\n\r\n`
  for (let i = 0; i < 20; i++) {
    const { socket } = await openRaw(server)
    if (i % 2) socket.write(`${head(`Content-Length: ${body.length}`)}${body.slice(0, -5)}`)
    else socket.write(`${head('Transfer-Encoding: chunked')}${body.length.toString(16)}\r\n${body.slice(0, 20)}`)
    if (i % 3) await until('the request is in flight', async () => (await inFlight(t, server)) > 0)
    socket.destroy()
  }
  await until('no request is in flight', async () => (await inFlight(t, server)) === 0)
  assert.equal(json(await http2Client(t, server).request('GET', configMapsPath)).items.length, 0)
  assert.deepEqual(server.logLines, [])
})

test('a body may arrive in two parts, chunked, after 100-continue', async (t) => {
  const server = await startTestServer(t)
  const { socket, received } = await openRaw(server)
  const body = JSON.stringify(configMapOf(1))
  socket.write(
    `POST ${configMapsPath} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: ` +
      'application/json\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n',
  )
  await until('100 Continue', () => received().startsWith('HTTP/1.1 100 Continue'))
  for (const part of [body.slice(0, 7), body.slice(7)]) {
    socket.write(`${part.length.toString(16)}\r\n${part}\r\n`)
    await until('the server reads the body', async () => (await inFlight(t, server)) === 1)
  }
  socket.write('0\r\n\r\n')
  await until('the response', () => received().includes('HTTP/1.1 201 Created'))
  socket.destroy()
})

test('invalid HTTP gets a 400 or no response, and does not affect other connections', async (t) => {
  const server = await startTestServer(t)
  const garbage = [
    '\0\x01\x02\x03\r\n\r\n',
    'GET\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    `GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: x\r\n${'A: b\r\n'.repeat(5000)}\r\n`,
    `GET /${'a'.repeat(100_000)} HTTP/1.1\r\n\r\n`,
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  ]
  for (const text of garbage) {
    const { socket, received, closed } = await openRaw(server)
    socket.write(text)
    socket.end()
    await closed
    assert.match(received(), /^(HTTP\/1\.1 4\d\d .*)?/s)
    assert.doesNotMatch(received(), /^HTTP\/1\.1 [235]/)
  }
  const client = http2Client(t, server)
  assert.equal((await client.request('GET', '/version')).status, 200)
  assert.deepEqual(server.logLines, [])
})
