import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request } from 'node:https'
import { type AddressInfo, connect, createServer as createListener } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connectionsSocket } from '../../lib/rootless/connect-outside.ts'
import { socketFolderVariable } from '../../lib/rootless/socket-folder.ts'
import { issueCertificate, makeAuthority } from '../../lib/x509/certificates.ts'
import { MachineAgent } from './machine-agent.ts'

const host = '127.0.0.1'

/** A process outside that connects everything to one server. Returns the requested addresses. */
async function outsideOf(t: TestContext, port: number): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 't8s-agent-'))
  const requests: string[] = []
  const outside = createListener((socket) => {
    socket.once('data', (data: Buffer) => {
      const end = data.indexOf('\n')
      requests.push(data.subarray(0, end).toString())
      const server = connect(port, host)
      server.write(data.subarray(end + 1))
      socket.pipe(server).pipe(socket)
    })
  }).listen(join(folder, connectionsSocket))
  await once(outside, 'listening')
  process.env[socketFolderVariable] = folder
  t.after(() => {
    delete process.env[socketFolderVariable]
    outside.close()
    rmSync(folder, { recursive: true })
  })
  return requests
}

async function freePort(): Promise<number> {
  const server = createListener().listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

test('a server on a loopback address is looked for inside, then outside of a user namespace', async (t) => {
  const authority = await makeAuthority('test', new Date())
  const identity = { commonName: 'server', organizations: [], usage: 'server', hosts: [host] } as const
  const server = createServer(await issueCertificate(authority, identity, new Date()), (_, response) =>
    response.end('answer'),
  ).listen(0, host)
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const requests = await outsideOf(t, port)
  const agent = new MachineAgent({ keepAlive: true })
  t.after(() => agent.destroy())
  const read = async (at: number): Promise<string> => {
    const sent = request({ host, port: at, agent, ca: authority.cert }).end()
    const [response] = await once(sent, 'response')
    return Buffer.concat(await response.toArray()).toString()
  }
  assert.equal(await read(port), 'answer')
  assert.deepEqual(requests, [])
  const closed = await freePort()
  assert.equal(await read(closed), 'answer')
  assert.equal(await read(closed), 'answer')
  assert.deepEqual(requests, [JSON.stringify({ host, port: closed })])
})
