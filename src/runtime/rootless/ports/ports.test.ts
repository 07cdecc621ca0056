import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connectionsSocket } from '../../../lib/rootless/connect-outside.ts'
import { serveHostPorts } from './host-ports.ts'
import { PodPorts } from './pod-ports.ts'
import { lineOf } from './port-messages.ts'
import { publishPort } from './publish-port.ts'

const host = '127.0.0.1'

async function setUp(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 't8s-ports-'))
  const ports = await serveHostPorts(folder)
  const server = createServer((request: IncomingMessage, response) => request.pipe(response)).listen(0, host)
  await once(server, 'listening')
  t.after(() => {
    ports.close()
    server.close()
    rmSync(folder, { recursive: true })
  })
  return { folder, target: { host, port: (server.address() as AddressInfo).port } }
}

const echo = async (port: number): Promise<string> =>
  (await fetch(`http://${host}:${port}/`, { method: 'POST', body: 'hello' })).text()

test('a published port passes connections on until it is closed', async (t) => {
  const { folder, target } = await setUp(t)
  const published = await publishPort(folder, { host, port: 0, target })
  assert.equal(await echo(published.port), 'hello')
  const { code } = (await publishPort(folder, { host, port: published.port, target }).catch((error) => error)) as {
    code?: string
  }
  assert.equal(code, 'EADDRINUSE')
  published.close()
  const again = await publishPort(folder, { host, port: 0, target })
  again.close()
  assert.deepEqual(readdirSync(folder).sort(), [connectionsSocket, 'ports.sock'])
})

test('the host ports of a pod are opened together or not at all', async (t) => {
  const { folder, target } = await setUp(t)
  const taken = await publishPort(folder, { host, port: 0, target })
  const free = await publishPort(folder, { host, port: 0, target })
  free.close()
  const pod = new PodPorts(folder)
  const mapping = (hostPort: number, protocol: 'tcp' | 'udp' = 'tcp') =>
    ({ hostPort, protocol, containerPort: target.port, hostIP: '' }) as const
  await assert.rejects(
    pod.open('a', host, [mapping(free.port), mapping(taken.port)]),
    new RegExp(`cannot listen on host port 127.0.0.1:${taken.port}: another program uses it`),
  )
  await pod.open('b', host, [mapping(free.port), mapping(taken.port, 'udp')])
  assert.equal(await echo(free.port), 'hello')
  pod.close('b')
  taken.close()
})

test('only loopback addresses of the machine are connected', async (t) => {
  const { folder, target } = await setUp(t)
  const open = (to: string): Socket => {
    const socket = connect(join(folder, connectionsSocket))
    socket.write(`${lineOf({ host: to, port: target.port })}GET / HTTP/1.0\r\n\r\n`)
    return socket
  }
  const [answer] = (await once(open(host), 'data')) as [Buffer]
  assert.match(answer.toString(), /^HTTP\/1.1 200/)
  const refused = open('198.51.100.1').resume()
  await once(refused, 'close')
  assert.equal(refused.bytesRead, 0)
})
