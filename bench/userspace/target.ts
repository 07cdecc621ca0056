/**
 * The server behind the proxies, in a process of its own. It answers a question, and counts all other bytes. Asked by a
 * message, it sends bytes to itself through a proxy, and reports the time in ms.
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'

let received = 0
let wanted = Number.POSITIVE_INFINITY
let finish = (): void => {}

const server = createServer((socket) => {
  socket.on('data', (bytes) => {
    if (bytes.length === 1) socket.write('!')
    received += bytes.length
    if (received >= wanted) finish()
  })
  socket.on('error', () => socket.destroy())
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')

process.on('message', async ({ port, bytes }: { readonly port: number; readonly bytes: number }) => {
  const started = performance.now()
  const block = Buffer.alloc(256 * 1024, 'x')
  const { promise, resolve } = Promise.withResolvers<void>()
  ;[received, wanted, finish] = [0, bytes, resolve]
  const socket = connect(port, '127.0.0.1')
  for (let sent = 0; sent < bytes; sent += block.length) if (!socket.write(block)) await once(socket, 'drain')
  await promise
  socket.destroy()
  process.send?.(performance.now() - started)
})
process.once('disconnect', () => process.exit())
process.send?.((server.address() as AddressInfo).port)
