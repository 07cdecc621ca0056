/** A stream of TCP between two pods. `server` waits for one connection, `client ADDRESS MS` sends for a time. */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

const [role, address = '', duration = '0'] = process.argv.slice(2)
const port = 5201
const piece = Buffer.alloc(128 * 1024)

/** The time of this process and of the kernel for it, in ms. */
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

if (role === 'server') {
  const server = createServer()
  server.listen(port, '::')
  await once(server, 'listening')
  console.log('listening')
  const [socket] = await once(server, 'connection')
  const [started, cpu] = [performance.now(), cpuMs()]
  let bytes = 0
  for await (const received of socket) bytes += (received as Buffer).length
  server.close()
  console.log(JSON.stringify({ bytes, ms: performance.now() - started, cpuMs: cpuMs() - cpu }))
} else {
  const socket = connect(port, address)
  await once(socket, 'connect')
  const cpu = cpuMs()
  const end = performance.now() + Number(duration)
  while (performance.now() < end) if (!socket.write(piece)) await once(socket, 'drain')
  socket.end()
  await once(socket, 'close')
  console.log(JSON.stringify({ cpuMs: cpuMs() - cpu }))
}
