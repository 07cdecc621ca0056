/** Makes a port in a user namespace reachable at a port of the machine. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { joinSockets } from './join-sockets.ts'
import { firstLine, lineOf, type PortAnswer, portsSocket } from './port-messages.ts'

export interface PublishedPort {
  readonly port: number
  /** Closes the port. Connections continue. */
  close(): void
}

export interface PortToPublish {
  /** Of the machine. */
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /** In the namespace; port 0 stands for the same port. */
  readonly target: { readonly host: string; readonly port: number }
}

class PublishError extends Error {
  readonly code: string

  constructor(message: string, code: string) {
    super(message)
    this.code = code
  }
}

/** `folder` has the sockets. Rejects with an error that has the code of `listen`, such as `EADDRINUSE`. */
export async function publishPort(folder: string, { host, port, target }: PortToPublish): Promise<PublishedPort> {
  const name = `port-${randomBytes(6).toString('hex')}`
  const path = join(folder, name)
  let targetPort = target.port
  const server = createServer({ allowHalfOpen: true }, (outer) => {
    const inner = connect({ host: target.host, port: targetPort, allowHalfOpen: true, noDelay: true })
    joinSockets(outer, inner)
  })
  server.listen(path)
  await once(server, 'listening')
  const request = connect(join(folder, portsSocket))
  const close = (): void => {
    request.destroy()
    server.close()
    rmSync(path, { force: true })
  }
  request.on('error', () => {})
  request.write(lineOf({ host, port, target: name }))
  const line = await firstLine(request)
  const answer: PortAnswer =
    line === undefined ? { code: '', message: 'the process outside of the user namespace has ended' } : JSON.parse(line)
  if ('message' in answer) {
    close()
    throw new PublishError(answer.message, answer.code)
  }
  // Its end closes the port, and is an event only of a connection that is read.
  request.resume()
  targetPort ||= answer.port
  // Neither keeps a process running that has nothing else to do.
  server.unref()
  request.unref()
  return { port: answer.port, close }
}
