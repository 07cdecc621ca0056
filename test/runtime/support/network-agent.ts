/**
 * A process in a network namespace: it answers on port 80 of TCP and UDP with its name and the address of the client,
 * and asks others when the test wants it.
 */
import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { text } from 'node:stream/consumers'

export interface Question {
  readonly protocol: 'tcp' | 'udp'
  readonly address: string
  readonly port: number
  /** The port of the client; 0: a free one. */
  readonly localPort?: number
}

export interface Agent {
  /** Asks a server from the namespace of the agent. Resolves with the answer, or with an error text. */
  ask(question: Question): Promise<string>
  end(): void
}

const answerTimeoutMs = 3000

/** Starts an agent in the network of a file; in that of the test without one. */
export async function startAgent(name: string, network?: string): Promise<Agent> {
  const enter = network === undefined ? ['env'] : ['nsenter', `--net=${network}`]
  const [program, ...args] = [...enter, process.execPath, import.meta.filename, name]
  const child = spawn(program!, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  await once(child, 'message')
  let last: Promise<unknown> = Promise.resolve()
  return {
    ask(question) {
      const answer = last.then(async () => {
        child.send(question)
        const [message] = (await once(child, 'message')) as [string]
        return message
      })
      last = answer
      return answer
    },
    end: () => void child.kill('SIGKILL'),
  }
}

async function askTcp({ address, port }: Question): Promise<string> {
  const socket = connect({ host: address, port })
  const timer = setTimeout(() => socket.destroy(new Error('no answer')), answerTimeoutMs)
  try {
    return await text(socket)
  } finally {
    clearTimeout(timer)
  }
}

async function askUdp({ address, port, localPort = 0 }: Question): Promise<string> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
  const timer = setTimeout(() => socket.emit('error', new Error('no answer')), answerTimeoutMs)
  try {
    socket.bind(localPort)
    await once(socket, 'listening')
    const answer = once(socket, 'message')
    socket.send('hello', port, address)
    const [bytes] = (await answer) as [Buffer]
    return bytes.toString()
  } finally {
    clearTimeout(timer)
    socket.close()
  }
}

async function serve(name: string): Promise<void> {
  const answerTo = (address: string): string => `${name} sees ${address.replace(/^::ffff:/, '')}`
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.end(answerTo(socket.remoteAddress ?? ''))
  })
  server.listen(80, '0.0.0.0')
  await once(server, 'listening')
  const socket = createSocket('udp4')
  socket.on('message', (_, { address, port }) => socket.send(answerTo(address), port, address))
  socket.bind(80)
  await once(socket, 'listening')
  process.on('disconnect', () => process.exit())
  process.on('message', async (question: Question) => {
    const answer = await (question.protocol === 'tcp' ? askTcp(question) : askUdp(question)).catch(
      (error: Error) => error.message,
    )
    process.send!(answer)
  })
  process.send!('ready')
}

if (process.send && process.argv[1] === import.meta.filename) await serve(process.argv[2] ?? '')
