/** Streams of clients through the kubelet to a runtime's streaming server. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { create } from '@bufbuild/protobuf'
import { ContainerSchema, PodSandboxSchema } from '#protobuf/cri-runtime_pb.js'
import { sendUpgradeError } from '../../../node/server/errors.ts'
import { containerPathOf, targetOf } from '../../../node/server/target.ts'
import type { ContainerStreams } from '../../../node/streaming/container-streams.ts'
import {
  connectSpdy,
  connectWebSocket,
  rejectedUpgrade,
  startStreamServer,
} from '../../../node/streaming/testing/stream-server.fixture.ts'
import type { Pod } from '../../pod-types.ts'
import { RuntimeStreams } from './runtime-streams.ts'

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'u' },
  spec: { containers: [{ name: 'app' }] },
}

/** A kubelet before a runtime with these streams; resolves with its port. */
async function startKubelet(
  t: TestContext,
  runtimeStreams: Partial<ContainerStreams>,
  redirects = false,
): Promise<number> {
  const runtime = await startStreamServer(t, runtimeStreams)
  const base = `http://127.0.0.1:${runtime}`
  const flags = ({ stdin, stdout, stderr, tty }: Partial<Record<'stdin' | 'stdout' | 'stderr' | 'tty', boolean>>) =>
    `input=${Number(stdin)}&output=${Number(stdout)}&error=${Number(stderr)}&tty=${Number(tty)}`
  const labels = { 'io.kubernetes.container.name': 'app' }
  const streams = new RuntimeStreams({
    pods: { all: () => [pod], mirrors: () => [], statusOf: () => undefined, staticPodOf: () => undefined },
    runtime: {
      containers: async () => [create(ContainerSchema, { id: 'c', labels })],
      sandboxes: async () => [create(PodSandboxSchema, { id: 's' })],
      execUrl: async (request) =>
        `${base}/exec?${flags(request)}${(request.cmd ?? []).map((word) => `&command=${word}`).join('')}`,
      attachUrl: async (request) => `${base}/attach?${flags(request)}`,
      portForwardUrl: async () => `${base}/portForward`,
    },
    redirects,
  })
  const server = createServer()
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy())
    const target = targetOf(request)
    streams
      .serve({ request, socket, head }, target.parts[0]!, containerPathOf(target), target.query)
      .catch((error) => sendUpgradeError(socket, error))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const echo: Partial<ContainerStreams> = {
  async exec(_container, words, { stdin, stdout, stderr }) {
    stdout?.write(words.join(' '))
    if (stdin) stdout?.write(`|${await text(stdin)}`)
    stderr?.write('warning')
    return words.length
  },
  async portForward(_pod, port, connection) {
    if (port === 81) throw new Error('connection refused')
    connection.end(`${port}:${await text(connection)}`)
  },
}

const execPath = '/exec/default/web/app?command=a&command=b&input=1&output=1&error=1'

const failure = {
  metadata: {},
  status: 'Failure',
  message: 'command terminated with non-zero exit code: exit status 2',
  reason: 'NonZeroExitCode',
  details: { causes: [{ reason: 'ExitCode', message: '2' }] },
}

test('exec over SPDY is passed on, with the end of the input and the exit code', async (t) => {
  const port = await startKubelet(t, echo)
  const client = await connectSpdy(t, port, execPath, 'v4.channel.k8s.io')
  const streams = []
  for (const streamtype of ['error', 'stdin', 'stdout', 'stderr']) streams.push(await client.open({ streamtype }))
  const [error, stdin, stdout, stderr] = streams
  await stdin!.write('input')
  stdin!.end()
  assert.equal(await stdout!.text(), 'a b|input')
  assert.equal(await stderr!.text(), 'warning')
  assert.deepEqual(JSON.parse(await error!.text()), failure)
})

test('exec over a WebSocket is translated to SPDY', async (t) => {
  const port = await startKubelet(t, echo)
  const { socket, messages } = await connectWebSocket(t, port, execPath, 'v5.channel.k8s.io')
  socket.send(Buffer.from('\0input'))
  socket.send(Buffer.from([255, 0]))
  await once(socket, 'close')
  const channel = (number: number): string =>
    Buffer.concat(messages.filter((one) => one[0] === number).map((one) => one.subarray(1))).toString()
  assert.equal(channel(1), 'a b|input')
  assert.equal(channel(2), 'warning')
  assert.deepEqual(JSON.parse(channel(3)), failure)
})

test('the size of a terminal is translated', async (t) => {
  const port = await startKubelet(t, {
    async attach(_container, { stdout, onResize }) {
      const { promise, resolve } = Promise.withResolvers<void>()
      onResize(({ width, height }) => {
        stdout?.write(`${width}x${height}`)
        resolve()
      })
      await promise
    },
  })
  const path = '/attach/default/web/app?output=1&tty=1'
  const { socket, messages } = await connectWebSocket(t, port, path, 'v4.channel.k8s.io')
  socket.send('\u0004{"Width":80,"Height":24}\n')
  await once(socket, 'close')
  assert.ok(messages.some((one) => one.toString() === '\u000180x24'))
})

test('ports are forwarded over SPDY and over WebSockets', async (t) => {
  const port = await startKubelet(t, echo)
  const client = await connectSpdy(t, port, '/portForward/default/web', 'portforward.k8s.io')
  const error = await client.open({ streamtype: 'error', port: '80', requestid: '0' })
  const data = await client.open({ streamtype: 'data', port: '80', requestid: '0' })
  await data.write('hello')
  data.end()
  assert.equal(await data.text(), '80:hello')
  assert.equal(await error.text(), '')
  const path = '/portForward/default/web?port=81'
  const { socket, messages } = await connectWebSocket(t, port, path, 'v4.channel.k8s.io')
  await once(socket, 'close')
  const errors = Buffer.concat(messages.filter((one) => one[0] === 1).map((one) => one.subarray(1)))
  assert.match(errors.toString(), /connection refused$/)
})

test('a client that leaves ends the command', async (t) => {
  const left = Promise.withResolvers<void>()
  const port = await startKubelet(t, {
    async exec(_container, _words, { stdin, signal }) {
      stdin?.resume()
      await once(signal, 'abort')
      left.resolve()
      return 0
    },
  })
  const { socket } = await connectWebSocket(t, port, execPath, 'v5.channel.k8s.io')
  socket.close()
  await left.promise
})

test("requests that cannot be served get upstream's errors", async (t) => {
  const port = await startKubelet(t, echo)
  const spdy = { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' }
  assert.equal(await rejectedUpgrade(port, '/exec/default/none/app?output=1', spdy), '404 pod does not exist')
  assert.equal(
    await rejectedUpgrade(port, '/exec/default/web/other?output=1', spdy),
    '500 container not found ("other")',
  )
  assert.equal(
    await rejectedUpgrade(port, '/exec/default/web/app', spdy),
    '400 you must specify at least 1 of stdin, stdout, stderr',
  )
  assert.equal(await rejectedUpgrade(port, '/exec/default/web/wrong-uid/app?output=1', spdy), '404 pod does not exist')
  const refused = await rejectedUpgrade(port, execPath, { ...spdy, 'x-stream-protocol-version': 'v9' })
  assert.match(refused, /^403 unable to upgrade: unable to negotiate protocol: client supports \[v9\]/)
})

test('a kubelet that redirects leads clients to the runtime once', async (t) => {
  const port = await startKubelet(t, echo, true)
  const spdy = { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' }
  assert.equal(await rejectedUpgrade(port, execPath, spdy), '302 ')
  const client = await connectSpdy(t, port, '/cri/exec', 'v4.channel.k8s.io')
  assert.ok(client)
  assert.match(await rejectedUpgrade(port, '/cri/exec', spdy), /^404 /)
})
