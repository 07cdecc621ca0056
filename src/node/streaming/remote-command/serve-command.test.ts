import assert from 'node:assert/strict'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import type { ContainerStreams } from '../container-streams.ts'
import type { SpdyClient } from '../testing/spdy-client.fixture.ts'
import { connectSpdy, connectWebSocket, rejectedUpgrade, startStreamServer } from '../testing/stream-server.fixture.ts'
import type { TerminalSize } from './remote-command.ts'

/** A command that prints its words and its input, and exits with the number of its words. */
const echo: Partial<ContainerStreams> = {
  async exec(_container, words, { stdin, stdout, stderr, canEndInput }) {
    stdout?.write(words.join(' '))
    if (stdin && canEndInput) stdout?.write(`|${await text(stdin)}`)
    stderr?.write('warning')
    return words.length
  },
}

const path = '/exec?command=a&command=b&input=1&output=1&error=1'
const failure = {
  metadata: {},
  status: 'Failure',
  message: 'command terminated with non-zero exit code: exit status 2',
  reason: 'NonZeroExitCode',
  details: { causes: [{ reason: 'ExitCode', message: '2' }] },
}

async function openAll(client: SpdyClient, ...types: string[]) {
  const streams = []
  for (const streamtype of types) streams.push(await client.open({ streamtype }))
  return streams
}

test('a command over SPDY reads its input to the end, and sends outputs and exit status', async (t) => {
  const port = await startStreamServer(t, echo)
  for (const version of ['v5.channel.k8s.io', 'v4.channel.k8s.io', 'v2.channel.k8s.io']) {
    const client = await connectSpdy(t, port, path, version)
    const [error, stdin, stdout, stderr] = await openAll(client, 'error', 'stdin', 'stdout', 'stderr')
    const closed = once(client.socket, 'close')
    void stdin!.write('in')
    void stdin!.write('put')
    stdin!.end()
    assert.equal(await stdout!.text(), 'a b|input')
    assert.equal(await stderr!.text(), 'warning')
    const status = await error!.text()
    if (version.startsWith('v2')) assert.equal(status, failure.message)
    else assert.deepEqual(JSON.parse(status), failure)
    client.socket.end()
    await closed
  }
})

test('a command over a WebSocket uses one channel for each stream', async (t) => {
  const port = await startStreamServer(t, echo)
  const { socket, messages } = await connectWebSocket(t, port, path, 'v5.channel.k8s.io')
  socket.send(Buffer.from('\0input'))
  socket.send(Buffer.from([255, 0]))
  const [code] = await once(socket, 'close')
  assert.equal(code, 1000)
  const channel = (number: number): string =>
    Buffer.concat(messages.filter((one) => one[0] === number).map((one) => one.subarray(1))).toString()
  assert.deepEqual(messages[0], Buffer.from([1]), 'an empty message shows that the channels are open')
  assert.equal(channel(1), 'a b|input')
  assert.equal(channel(2), 'warning')
  assert.deepEqual(JSON.parse(channel(3)), failure)
})

test('older protocols of WebSockets differ in encoding and exit status', async (t) => {
  const port = await startStreamServer(t, echo)
  const statuses: Record<string, string> = {}
  for (const protocol of ['v4.channel.k8s.io', 'v4.base64.channel.k8s.io', 'base64.channel.k8s.io', 'channel.k8s.io']) {
    const { socket, messages } = await connectWebSocket(t, port, path, protocol)
    await once(socket, 'close')
    const decode = (one: Buffer): string =>
      protocol.includes('base64')
        ? `${one.toString()[0]} ${Buffer.from(one.subarray(1).toString(), 'base64')}`
        : `${one[0]} ${one.subarray(1)}`
    const texts = messages.map(decode)
    assert.deepEqual(texts.slice(0, 3), ['1 ', '1 a b', '2 warning'], protocol)
    statuses[protocol] = texts[3]!
  }
  const [json, plain] = [`3 ${JSON.stringify(failure)}`, `3 ${failure.message}`]
  assert.deepEqual(statuses, {
    'v4.channel.k8s.io': json,
    'v4.base64.channel.k8s.io': json,
    'base64.channel.k8s.io': plain,
    'channel.k8s.io': plain,
  })
})

test('a command that cannot be run ends with an internal error', async (t) => {
  const port = await startStreamServer(t, { exec: () => Promise.reject(new Error('no such container')) })
  const client = await connectSpdy(t, port, '/exec?output=1', 'v4.channel.k8s.io')
  const [error] = await openAll(client, 'error', 'stdout')
  const { reason, message } = JSON.parse(await error!.text())
  assert.equal(reason, 'InternalError')
  assert.equal(message, 'Internal error occurred: error executing command in container: no such container')
})

test('sizes of the terminal arrive over both protocols', async (t) => {
  const port = await startStreamServer(t, {
    async exec(_container, _words, { stdout, onResize }) {
      const { promise, resolve } = Promise.withResolvers<TerminalSize>()
      onResize(resolve)
      const { width, height } = await promise
      stdout?.write(`${width}x${height}`)
      return 0
    },
  })
  const size = '{"Width":80,"Height":24}\n'
  const client = await connectSpdy(t, port, '/exec?output=1&tty=1', 'v4.channel.k8s.io')
  const [, stdout, resize] = await openAll(client, 'error', 'stdout', 'resize')
  void resize!.write(size.slice(0, 10))
  void resize!.write(size.slice(10))
  assert.equal(await stdout!.text(), '80x24')
  const { socket, messages } = await connectWebSocket(t, port, '/exec?output=1&tty=1', 'v4.channel.k8s.io')
  socket.send(`\u0004${size}`)
  await once(socket, 'close')
  assert.ok(messages.some((one) => one.toString() === '\u000180x24'))
})

test('sizes of the terminal that nobody reads do not hold up the input', async (t) => {
  const port = await startStreamServer(t, echo)
  const { socket, messages } = await connectWebSocket(t, port, path, 'v5.channel.k8s.io')
  for (let i = 0; i < 100; i++) socket.send(`\u0004${'{"Width":80,"Height":24}'.repeat(100)}`)
  socket.send('\0input')
  socket.send(Buffer.from([255, 0]))
  await once(socket, 'close')
  assert.ok(messages.some((one) => one.toString() === '\u0001|input'))
})

test('a client that leaves ends the input and aborts the command', async (t) => {
  const commands: Promise<string>[] = []
  const port = await startStreamServer(t, {
    exec(_container, _words, { stdin, signal }) {
      const left = once(signal, 'abort')
      commands.push(text(stdin!).then((input) => left.then(() => input)))
      return left.then(() => 0)
    },
  })
  const client = await connectSpdy(t, port, '/exec?input=1', 'v5.channel.k8s.io')
  const [, stdin] = await openAll(client, 'error', 'stdin')
  await stdin!.write('half')
  client.socket.end()
  await once(client.socket, 'close')
  const { socket } = await connectWebSocket(t, port, '/exec?input=1', 'v5.channel.k8s.io')
  socket.send('\0half')
  socket.close()
  await once(socket, 'close')
  assert.deepEqual(await Promise.all(commands), ['half', 'half'])
})

test('a bad handshake is answered', async (t) => {
  const port = await startStreamServer(t, echo)
  const key = { 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==', 'sec-websocket-version': '13' }
  const webSocket = { upgrade: 'websocket', ...key, 'sec-websocket-protocol': 'v5.channel.k8s.io' }
  const unsupported = '400 unable to upgrade: unsupported protocol'
  assert.match(await rejectedUpgrade(port, path, { ...webSocket, 'sec-websocket-key': 'short' }), /^400 .*Key/)
  assert.match(await rejectedUpgrade(port, path, { ...webSocket, 'sec-websocket-version': '1' }), /^400 .*Version/)
  assert.equal(await rejectedUpgrade(port, path, { ...webSocket, 'sec-websocket-protocol': 'v9' }), unsupported)
  assert.equal(await rejectedUpgrade(port, path, { upgrade: 'odd' }), unsupported)
  assert.match(
    await rejectedUpgrade(port, path, { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v9' }),
    /^403 unable to upgrade: unable to negotiate protocol: client supports \[v9\], server accepts \[v5\.channel/,
  )
})
