/** Logs over a WebSocket, read by the client that browsers and Node have. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { request } from 'node:https'
import { type TestContext, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { type TestCluster, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { lonely, startWorker } from './worker.ts'

const path = '/api/v1/namespaces/default/pods/web/log'
const token = `base64url.bearer.authorization.k8s.io.${Buffer.from('secret').toString('base64url')}`

async function clusterWith(t: TestContext, writeLog: (response: ServerResponse) => void): Promise<TestCluster> {
  const cluster = await testCluster(t, lonely)
  await startWorker(t, cluster, writeLog)
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, cluster.client.ca ?? ''])
  t.after(() => setDefaultCACertificates(before))
  return cluster
}

const open = ({ url }: TestCluster, query: string, ...protocols: string[]): WebSocket => {
  const socket = new WebSocket(`${url.replace('https', 'wss')}${path}${query}`, [token, ...protocols])
  socket.binaryType = 'arraybuffer'
  return socket
}

/** Resolves with all messages when the server closes: text as a string, bytes as a Buffer. */
async function messagesOf(socket: WebSocket): Promise<(string | Buffer)[]> {
  const messages: (string | Buffer)[] = []
  socket.addEventListener('message', ({ data }) =>
    messages.push(typeof data === 'string' ? data : Buffer.from(data as ArrayBuffer)),
  )
  const [{ code }] = (await once(socket, 'close')) as [CloseEvent]
  assert.equal(code, 1000)
  return messages
}

test('a log is sent as bytes, or as text in base64, after an empty message', async (t) => {
  const cluster = await clusterWith(t, (response) => void response.end('caf\u00e9\n'))
  const binary = open(cluster, '', 'binary.k8s.io')
  const bytes = await messagesOf(binary)
  assert.equal(binary.protocol, 'binary.k8s.io')
  assert.deepEqual(bytes[0], Buffer.alloc(0))
  assert.equal(Buffer.concat(bytes as Buffer[]).toString(), 'caf\u00e9\n')
  const encoded = open(cluster, '?container=c', 'base64.binary.k8s.io')
  const texts = await messagesOf(encoded)
  assert.equal(encoded.protocol, 'base64.binary.k8s.io')
  assert.equal(texts.map((text) => Buffer.from(text as string, 'base64').toString()).join(''), 'caf\u00e9\n')
})

test('a followed log is sent line by line, and ends at the kubelet when the client disconnects', async (t) => {
  const { promise: asked, resolve: answer } = Promise.withResolvers<ServerResponse>()
  const cluster = await clusterWith(t, answer)
  const socket = open(cluster, '?follow=true', 'binary.k8s.io')
  const got: string[] = []
  socket.addEventListener('message', ({ data }) => got.push(Buffer.from(data as ArrayBuffer).toString()))
  const log = await asked
  log.write('one\n')
  await waitFor('the first line', () => got.includes('one\n'))
  log.write('two\n')
  await waitFor('the second line', () => got.includes('two\n'))
  const left = once(log, 'close')
  socket.close()
  await left
})

test('a log that its client does not read pauses at the kubelet', async (t) => {
  const most = 64 * 1024 * 1024
  const chunk = Buffer.alloc(64 * 1024, 'x')
  let written = 0
  const cluster = await clusterWith(t, (response) => {
    const more = (): void => {
      while (written < most) {
        written += chunk.length
        if (!response.write(chunk)) {
          response.once('drain', more)
          return
        }
      }
      response.end()
    }
    more()
  })
  const { ca, cert, key, url } = cluster.client
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  }
  const [, socket] = await once(request(new URL(path, url), { ca, cert, key, agent: false, headers }).end(), 'upgrade')
  // Without a sub-protocol. The reader waits until the writer does.
  let before = -1
  await waitFor('the writer waits', () => {
    const stands = before === written && written > 0
    before = written
    return stands
  })
  assert.ok(written < most)
  let read = 0
  for await (const bytes of socket as AsyncIterable<Buffer>) read += bytes.length
  assert.ok(read > most, `${read}`)
})

test('a request that is no handshake is rejected, and the error of a pod without a log is the usual one', async (t) => {
  const cluster = await clusterWith(
    t,
    (response) => void response.writeHead(400).end('container "c" in pod "web" is waiting to start: ContainerCreating'),
  )
  const good = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  }
  const { ca, cert, key, url } = cluster.client
  const answer = async (headers: Record<string, string>): Promise<string> => {
    const [response] = await once(
      request(new URL(path, url), { ca, cert, key, agent: false, headers: { ...good, ...headers } }).end(),
      'response',
    )
    return `${response.statusCode} ${Buffer.concat(await response.toArray())}`
  }
  assert.match(await answer({}), /^400 \{.*is waiting to start/s)
})

test('a handshake with an unknown sub-protocol or a bad key is rejected', async (t) => {
  const cluster = await clusterWith(t, (response) => void response.end('x'))
  const good = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  }
  const { ca, cert, key, url } = cluster.client
  const status = async (headers: Record<string, string>): Promise<number> => {
    const [response] = await once(
      request(new URL(path, url), { ca, cert, key, agent: false, headers: { ...good, ...headers } }).end(),
      'response',
    )
    return response.resume().statusCode
  }
  assert.equal(await status({ 'sec-websocket-protocol': 'v4.channel.k8s.io' }), 403)
  assert.equal(await status({ 'sec-websocket-key': 'short' }), 400)
  assert.equal(await status({ 'sec-websocket-version': '8' }), 400)
})
