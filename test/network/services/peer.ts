/**
 * A program in the network namespace of a pod or client. It serves TCP and UDP on the ports of its arguments; the
 * answer to each packet is its name and the address that it sees as the client's. By commands on standard input, one
 * JSON object a line, it connects to others and prints what they answer, or stops and starts to accept connections.
 */
import { createSocket } from 'node:dgram'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { Asked, Request } from './asked-peer.ts'

const answerMs = 1000
const [name = '', ...ports] = process.argv.slice(2)
const plain = (address = ''): string => address.replace(/^::ffff:/, '')

const createTcpServer = (): Server =>
  createServer((socket) => {
    const seen = plain(socket.remoteAddress)
    socket.on('data', () => socket.write(`${name} ${seen}`))
    socket.on('error', () => socket.destroy())
  })
const servers = new Map<number, Server>()

/** Open connections remain when a server stops. */
async function serve(port: number, isServed: boolean): Promise<void> {
  servers.get(port)?.close()
  servers.delete(port)
  if (!isServed) return
  const server = createTcpServer()
  servers.set(port, server)
  await new Promise<void>((resolve) => server.listen(port, '::', resolve))
}

for (const port of ports.map(Number)) {
  const udp = createSocket('udp6', (_, { address, port: from }) => udp.send(`${name} ${plain(address)}`, from, address))
  await serve(port, true)
  await new Promise<void>((resolve) => udp.bind(port, '::', resolve))
}

const opened = new Map<string, Socket>()

async function answer({ protocol, address, port, keep, isServed, count = 1 }: Request): Promise<string[]> {
  if (isServed !== undefined) {
    await serve(port, isServed)
    return []
  }
  const found: string[] = []
  for (let i = 0; i < count; i++)
    found.push(await (protocol === 'udp' ? askUdp(address, port) : askTcp(address, port, keep)))
  return found
}

/** Resolves with the answer, or with the code of the error. */
function askTcp(address: string, port: number, keep: string | undefined): Promise<string> {
  const known = keep === undefined ? undefined : opened.get(keep)
  const socket = known ?? connect({ host: address, port, noDelay: true })
  return new Promise((resolve) => {
    const finish = (text: string): void => {
      clearTimeout(timer)
      socket.removeAllListeners('data').removeAllListeners('error')
      if (keep === undefined) socket.destroy()
      else opened.set(keep, socket)
      socket.on('error', () => {})
      resolve(text)
    }
    const timer = setTimeout(() => finish('timeout'), answerMs)
    socket.once('data', (data) => finish(data.toString()))
    socket.once('error', (error: NodeJS.ErrnoException) => finish(error.code ?? String(error)))
    socket.write('?')
  })
}

function askUdp(address: string, port: number): Promise<string> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
  return new Promise((resolve) => {
    const finish = (text: string): void => {
      clearTimeout(timer)
      socket.close()
      resolve(text)
    }
    const timer = setTimeout(() => finish('timeout'), answerMs)
    socket.once('message', (data) => finish(data.toString()))
    socket.once('error', (error: NodeJS.ErrnoException) => finish(error.code ?? String(error)))
    // Its callback is also called after an error.
    socket.once('connect', () => socket.send('?')).connect(port, address)
  })
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, ...request } = JSON.parse(line) as Request & { readonly id: number }
  void answer(request).then((answers) => {
    process.stdout.write(`${JSON.stringify({ id, answers } satisfies Asked)}\n`)
  })
}
process.exit()
