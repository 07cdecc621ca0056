/** A proxy on loopback in a process of its own: `forwarder PORT`, or `plain PORT` of Node's `net`. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { Forwarder } from '../../src/network/forwarder/forwarder.ts'

const [kind, targetPort] = process.argv.slice(2)
const target = { address: '127.0.0.1', port: Number(targetPort) }

const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
  const server = connect({ host: target.address, port: target.port, allowHalfOpen: true, noDelay: true })
  for (const socket of [client, server])
    socket.on('error', () => [client, server].forEach((each) => void each.destroy()))
  client.pipe(server)
  server.pipe(client)
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
if (kind === 'forwarder') {
  server.close()
  await new Forwarder().set([{ protocol: 'TCP', address: '127.0.0.1', port, group: 'bench', targets: [target] }], [])
}
process.on('message', () => process.send?.(process.cpuUsage()))
process.once('disconnect', () => process.exit())
process.send?.(port)
