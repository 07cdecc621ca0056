/**
 * How a process in a user namespace gets ports of the machine: a connection to a socket for each port, a line with the
 * request, a line with the answer. The port is open while the connection is.
 */
import type { Socket } from 'node:net'

/** The name of the socket in the folder of sockets. */
export const portsSocket = 'ports.sock'

export interface PortRequest {
  /** An address of the machine. */
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /** The socket in the namespace that gets the connections, by its name in the folder of sockets. */
  readonly target: string
}

export type PortAnswer = { readonly port: number } | { readonly code: string; readonly message: string }

export const lineOf = (message: PortRequest | PortAnswer): string => `${JSON.stringify(message)}\n`

const maxLineBytes = 4096

/** Resolves with the first line of a connection; undefined if it ends before, or has a longer one. Pauses it then. */
export function firstLine(socket: Socket): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  let read = Buffer.alloc(0)
  const onData = (chunk: Buffer): void => {
    read = Buffer.concat([read, chunk])
    const end = read.indexOf('\n')
    if (end < 0 && read.length < maxLineBytes) return
    socket.off('data', onData).pause()
    if (end >= 0) socket.unshift(read.subarray(end + 1))
    resolve(end < 0 ? undefined : read.toString('utf8', 0, end))
  }
  socket.on('data', onData)
  socket.once('close', () => resolve(undefined))
  return promise
}
