/** Streams of containers through the runtime's streaming server. */
import assert from 'node:assert/strict'
import { duplexPair, PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { NamespaceMode } from '#protobuf/cri-values_pb.js'
import { forwardThrough } from '../../src/node/streaming/backend/forward-through.ts'
import { commandThrough } from '../../src/node/streaming/backend/translate-command.ts'
import type { RemoteCommand, TerminalSize } from '../../src/node/streaming/remote-command/remote-command.ts'
import { connectSpdy } from '../../src/node/streaming/spdy/connect-spdy.ts'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { waitFor } from '../support/wait-for.ts'
import { TestRuntime } from './support/test-runtime.ts'

/** A client with a terminal of a size, or without one. */
function clientOf(size?: TerminalSize) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const command: RemoteCommand = {
    stdin,
    stdout,
    stderr: undefined,
    isTerminal: size !== undefined,
    canEndInput: true,
    onResize: (callback) => size && callback(size),
    signal: new AbortController().signal,
  }
  return { stdin, stdout, command }
}

await inNamespaces(import.meta.filename, async () => {
  const runtime = await TestRuntime.start()
  commandTests(runtime)
  attachTests(runtime)
  earlyEndTests(runtime)
  podTests(runtime)
})

function commandTests(runtime: TestRuntime): void {
  const { client } = runtime
  test('a command in a terminal sees its size and gets input', async () => {
    const sandbox = await runtime.sandbox()
    const containerId = await runtime.run(sandbox, 'sleep 1000')
    const streams = { stdin: true, stdout: true, stderr: false, tty: true }
    const url = await client.execUrl({
      containerId,
      // stty may report a stale error, or none, as long as the size is 0.
      cmd: ['sh', '-c', 'until stty size | grep "17 91"; do sleep 0.1; done; read x; echo "<$x>"; exit 4'],
      ...streams,
    })
    const { stdin, stdout, command } = clientOf({ width: 91, height: 17 })
    const output = text(stdout)
    stdin.write('hello\n')
    const status = await commandThrough(url, command)
    stdout.end()
    assert.equal(status.details?.causes?.[0]?.message, '4')
    assert.match(await output, /17 91[\s\S]*<hello>/)
    await assert.rejects(commandThrough(url, clientOf().command), /404/)
  })
  test('a container ends its input with that of the first client', async () => {
    const sandbox = await runtime.sandbox()
    const containerId = await runtime.run(sandbox, 'cat; echo end', { stdin: true, stdinOnce: true })
    const url = await client.attachUrl({ containerId, stdin: true, stdout: true, stderr: false })
    const { stdin, stdout, command } = clientOf()
    const output = text(stdout)
    stdin.end('one\ntwo\n')
    await commandThrough(url, command)
    stdout.end()
    assert.equal(await output, 'one\ntwo\nend\n')
    assert.deepEqual(await runtime.logOf(containerId), ['stdout F one', 'stdout F two', 'stdout F end'])
  })
}

function attachTests(runtime: TestRuntime): void {
  const { client } = runtime
  test('a client attaches to the terminal of a container, also after a restart of the runtime', async () => {
    const sandbox = await runtime.sandbox()
    const script = 'while read x; do echo "<$x>" $(stty size); done'
    const containerId = await runtime.run(sandbox, script, { tty: true, stdin: true })
    const attach = async (size: TerminalSize): Promise<{ readonly attached: Promise<unknown> }> => {
      const url = await client.attachUrl({ containerId, stdin: true, stdout: true, tty: true })
      const { stdin, stdout, command } = clientOf(size)
      let output = ''
      stdout.on('data', (chunk) => {
        output += chunk
      })
      const attached = commandThrough(url, command)
      const expected = `<hello> ${size.height} ${size.width}`
      await waitFor(expected, () => {
        stdin.write('hello\n')
        return output.includes(expected)
      })
      return { attached }
    }
    const first = await attach({ width: 80, height: 24 })
    const lost = assert.rejects(first.attached)
    await runtime.stopServer()
    await lost
    await runtime.startServer()
    const second = await attach({ width: 100, height: 30 })
    await client.stopContainer(containerId, 0)
    await second.attached
  })
}

function earlyEndTests(runtime: TestRuntime): void {
  const { client } = runtime
  test('a command in a terminal loses no output when it ends early', async () => {
    const sandbox = await runtime.sandbox()
    const containerId = await runtime.run(sandbox, 'sleep 1000')
    for (let round = 0; round < 10; round++) {
      const url = await client.execUrl({ containerId, cmd: ['echo', 'hello'], stdin: true, stdout: true, tty: true })
      const { stdout, command } = clientOf({ width: 80, height: 24 })
      const output = text(stdout)
      await commandThrough(url, command)
      stdout.end()
      assert.equal(await output, 'hello\r\n')
    }
  })
  test('a container with a terminal loses no output when it ends early', async () => {
    const sandbox = await runtime.sandbox()
    for (let round = 0; round < 10; round++) {
      const id = await runtime.run(sandbox, 'echo hello; exit 3', { tty: true })
      assert.equal((await runtime.ended(id)).exitCode, 3)
      assert.deepEqual(await runtime.logOf(id), ['stdout F hello'])
    }
  })
}

function podTests(runtime: TestRuntime): void {
  const { client } = runtime
  test('a port of a pod is forwarded', async () => {
    const sandbox = await runtime.sandbox()
    await runtime.run(sandbox, 'mkdir /www; echo page >/www/index.html; httpd -f -p 8080 -h /www')
    const server = await connectSpdy(await client.portForwardUrl(sandbox.id), ['portforward.k8s.io'])
    const forward = forwardThrough(server)
    await waitFor('the page', async () => {
      const [near, far] = duplexPair()
      const body = text(near)
      near.end('GET / HTTP/1.0\r\n\r\n')
      await forward(8080, far).catch(() => {})
      far.end()
      return (await body).includes('page')
    })
    const [, far] = duplexPair()
    await assert.rejects(forward(9, far), /connection refused/)
    // The connection outlives the pod.
    await client.removeSandbox(sandbox.id)
    await assert.rejects(forward(8080, duplexPair()[1]), /not found/)
    server.close()
  })
  test('all processes of a container end with its first one, even if it shares those of its pod', async () => {
    for (const pid of [NamespaceMode.POD, NamespaceMode.NODE]) {
      const pod = { linux: { securityContext: { namespaceOptions: { pid } } } }
      const sandbox = await runtime.sandbox(pod)
      const id = await runtime.run(sandbox, 'sleep 1000 & exit 7', pod)
      assert.equal((await runtime.ended(id)).exitCode, 7)
      const stopped = await runtime.run(sandbox, 'sleep 1000; true', pod)
      await client.stopContainer(stopped, 0)
      assert.equal((await runtime.ended(stopped)).exitCode, 137)
    }
  })
  test('containers share processes if the pod wants it', async () => {
    const pod = { linux: { securityContext: { namespaceOptions: { pid: NamespaceMode.POD } } } }
    const sandbox = await runtime.sandbox(pod)
    await runtime.run(sandbox, 'sleep 4711', pod)
    const id = await runtime.run(sandbox, 'sleep 1000', pod)
    const { stdout } = await client.exec(id, ['ps'])
    assert.match(Buffer.from(stdout).toString(), /1 .*pause[\s\S]*sleep 4711/)
  })
}
