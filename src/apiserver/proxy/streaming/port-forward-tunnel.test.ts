import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect, createServer as createEcho, type Server, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { Request } from '../../http/exchange.ts'
import { WaitGroup } from '../../http/wait-group.ts'
import { tunnel, wantsTunnel } from './port-forward-tunnel.ts'

/** A request with the members that the tunnel reads. */
const requestWith = (headers: Readonly<Record<string, string>>): Request =>
  ({
    method: 'GET',
    header: (name: string) => headers[name],
    headerValues: (name: string) => (headers[name] === undefined ? [] : [headers[name]]),
  }) as Pick<Request, 'method' | 'header' | 'headerValues'> as Request

const tunnelHeaders = {
  upgrade: 'websocket',
  'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  'sec-websocket-version': '13',
  'sec-websocket-protocol': 'SPDY/3.1+portforward.k8s.io',
}

test('clients request a tunnel by the name of the inner protocol', () => {
  assert.ok(wantsTunnel(requestWith(tunnelHeaders)))
  assert.ok(!wantsTunnel(requestWith({ ...tunnelHeaders, 'sec-websocket-protocol': 'v4.channel.k8s.io' })))
  assert.ok(!wantsTunnel(requestWith({ upgrade: 'SPDY/3.1' })))
  const headers = { 'user-agent': 'kubectl', ...tunnelHeaders }
  const { headers: sent, translation } = tunnel(requestWith(tunnelHeaders), headers, new WaitGroup())
  assert.deepEqual(sent, {
    'user-agent': 'kubectl',
    upgrade: 'websocket',
    'x-stream-protocol-version': 'portforward.k8s.io',
  })
  assert.deepEqual([translation.method, translation.protocol], ['POST', 'SPDY/3.1'])
  assert.throws(
    () => tunnel(requestWith({ ...tunnelHeaders, 'sec-websocket-protocol': 'SPDY/3.1+x' }), {}, new WaitGroup()),
    /forwards ports/,
  )
  assert.throws(
    () => tunnel(requestWith({ ...tunnelHeaders, 'sec-websocket-key': 'short' }), {}, new WaitGroup()),
    /unable to upgrade: missing or bad WebSocket-Key/,
  )
})

/** A server whose connections are tunnelled to a kubelet that echoes them. */
async function tunnelToEcho(t: TestContext, waitGroup: WaitGroup): Promise<number> {
  const kubelet = createEcho((socket) => socket.on('error', () => {}).pipe(socket)).listen(0, '127.0.0.1')
  await once(kubelet, 'listening')
  t.after(() => kubelet.close())
  return tunnelTo(t, kubelet, waitGroup)
}

/** A server whose connections are tunnelled to a kubelet. */
async function tunnelTo(t: TestContext, kubelet: Server, waitGroup: WaitGroup): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  server.on('upgrade', (message, client, head) => {
    const headers = Object.fromEntries(Object.entries(message.headers).map(([name, value]) => [name, String(value)]))
    const backend = connect((kubelet.address() as AddressInfo).port, '127.0.0.1')
    tunnel(requestWith(headers), {}, waitGroup).translation.takeOver(message, backend, Buffer.alloc(0))(client, head)
  })
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

/** The client's end of a WebSocket, written by hand: Node's own does not accept a protocol with a slash. */
async function connectTo(port: number): Promise<{ readonly socket: Socket; readonly protocol: string | undefined }> {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': tunnelHeaders['sec-websocket-key'],
  }
  const sent = request({
    port,
    host: '127.0.0.1',
    headers: { ...headers, 'sec-websocket-protocol': tunnelHeaders['sec-websocket-protocol'] },
  }).end()
  const [response, socket] = (await once(sent, 'upgrade')) as [IncomingMessage, Socket]
  socket.on('error', () => {})
  return { socket, protocol: response.headers['sec-websocket-protocol'] as string | undefined }
}

/** A binary message of up to 65,535 bytes; its mask is 0, which does not change the data. */
function message(data: Buffer): Buffer {
  const head = Buffer.from([0x82, 0xfe, 0, 0, 0, 0, 0, 0])
  head.writeUInt16BE(data.length, 2)
  return Buffer.concat([head, data])
}

/** The contents of all messages in `bytes`, the last of which may be truncated. */
function contentsOf(bytes: Buffer): Buffer {
  const contents: Buffer[] = []
  for (let at = 0; at + 10 <= bytes.length; ) {
    const short = bytes[at + 1]!
    const [begin, length] =
      short < 126
        ? [at + 2, short]
        : short === 126
          ? [at + 4, bytes.readUInt16BE(at + 2)]
          : [at + 10, Number(bytes.readBigUInt64BE(at + 2))]
    contents.push(bytes.subarray(begin, begin + length))
    at = begin + length
  }
  return Buffer.concat(contents)
}

test('a tunnel transports any amount of data unchanged', { timeout: 60_000 }, async (t) => {
  const { socket, protocol } = await connectTo(await tunnelToEcho(t, new WaitGroup()))
  assert.equal(protocol, 'SPDY/3.1+portforward.k8s.io')
  const sent = Buffer.alloc(8 * 1024 * 1024)
  for (let i = 0; i < sent.length; i += 4) sent.writeUInt32LE(i, i)
  // Nothing is read for a while: the tunnel slows down the kubelet, and the client in turn.
  for (let at = 0; at < sent.length; at += 50_000) socket.write(message(sent.subarray(at, at + 50_000)))
  const got: Buffer[] = []
  let size = 0
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    got.push(chunk)
    size += chunk.length
    if (size >= sent.length && contentsOf(Buffer.concat(got)).length >= sent.length) break
  }
  assert.ok(contentsOf(Buffer.concat(got)).equals(sent))
})

test('a client that does not read holds up the kubelet', { timeout: 60_000 }, async (t) => {
  let [written, isOpen] = [0, true]
  const kubelet = createEcho((socket) => {
    const write = (): void => {
      while (isOpen && socket.write(Buffer.alloc(64 * 1024))) written += 64 * 1024
      socket.once('drain', write)
    }
    socket.on('error', () => {}).on('close', () => (isOpen = false))
    write()
  }).listen(0, '127.0.0.1')
  await once(kubelet, 'listening')
  t.after(() => kubelet.close())
  const { socket } = await connectTo(await tunnelTo(t, kubelet, new WaitGroup()))
  socket.pause()
  let before = -1
  for (; before !== written; await setTimeout(200)) before = written
  assert.ok(written > 0 && written < 32 * 1024 * 1024, `the kubelet has written ${written} bytes`)
  socket.destroy()
})

test('a tunnel ends with the server', { timeout: 60_000 }, async (t) => {
  const waitGroup = new WaitGroup()
  const { socket } = await connectTo(await tunnelToEcho(t, waitGroup))
  const closed = once(socket.resume(), 'close')
  await waitGroup.stop(0)
  await closed
})
