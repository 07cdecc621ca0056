/** `npm run bench -- --dns`: questions about Services by UDP, and the CPU time of the server for each. */
import { type ChildProcess, fork } from 'node:child_process'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { join } from 'node:path'

const seconds = 5
const clients = 8
/** Questions of a client that wait for their answers at the same time. */
const window = 32
const services = 1000

export async function benchDns(): Promise<void> {
  const server = fork(join(import.meta.dirname, 'server.ts'), { execArgv: process.execArgv })
  try {
    const [port] = (await once(server, 'message')) as [number]
    await ask(port, 1)
    const before = await cpuOf(server)
    const answers = await ask(port, seconds)
    const cpu = (await cpuOf(server)) - before
    const perQuery = cpu / answers
    console.log(`answers per second, server and clients share the machine: ${Math.round(answers / seconds)}`)
    console.log(
      `CPU time of the server per answer: ${perQuery.toFixed(1)} µs (${Math.round(1e6 / perQuery)} per second of CPU)`,
    )
  } finally {
    server.disconnect()
  }
}

/** The CPU time of the server in µs. */
async function cpuOf(server: ChildProcess): Promise<number> {
  server.send('cpu')
  const [{ user, system }] = (await once(server, 'message')) as [NodeJS.CpuUsage]
  return user + system
}

/** Returns the number of answers. */
async function ask(port: number, duration: number): Promise<number> {
  const sockets = await Promise.all(Array.from({ length: clients }, () => connected(port)))
  let answers = 0
  let next = 0
  const send = (socket: Socket): void => {
    socket.send(questions[next++ % questions.length]!)
  }
  for (const socket of sockets) {
    socket.on('message', () => {
      answers++
      send(socket)
    })
    for (let i = 0; i < window; i++) send(socket)
  }
  await new Promise((resolve) => setTimeout(resolve, duration * 1000))
  for (const socket of sockets) socket.close()
  return answers
}

async function connected(port: number): Promise<Socket> {
  const socket = createSocket('udp4')
  socket.connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

const questions = Array.from({ length: services }, (_, i) => {
  const labels = [`web-${i}`, 'default', 'svc', 'cluster', 'local']
  const name = labels.map((label) => `${String.fromCharCode(label.length)}${label}`).join('')
  return Buffer.from(`\0\x07\x01\0\0\x01\0\0\0\0\0\0${name}\0\0\x01\0\x01`, 'latin1')
})
