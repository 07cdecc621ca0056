/** Connects clients with ports of a pod. */
import { once } from 'node:events'
import { connect, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { finished } from 'node:stream/promises'
import { loadLibc } from '../../host/libc.ts'

/** `namespace` is the file of the pod's network; undefined for the host's. Resolves when both sides are closed. */
export async function forwardPort(namespace: string | undefined, port: number, client: Duplex): Promise<void> {
  const socket = await open(namespace, port)
  socket.pipe(client, { end: true })
  client.pipe(socket, { end: true })
  const leave = (): void => void socket.destroy()
  client.once('close', leave)
  try {
    await finished(socket).catch((error) => {
      if (!client.destroyed && socket.bytesRead === 0) throw refused(port, error)
    })
  } finally {
    client.off('close', leave)
    socket.destroy()
  }
}

async function open(namespace: string | undefined, port: number): Promise<Socket> {
  try {
    if (namespace === undefined) {
      const socket = connect({ host: 'localhost', port, allowHalfOpen: true })
      await once(socket, 'connect')
      return socket
    }
    const libc = loadLibc()
    return new Socket({ fd: libc.connectIn(namespace, port), readable: true, writable: true, allowHalfOpen: true })
  } catch (error) {
    throw refused(port, error)
  }
}

function refused(port: number, error: unknown): Error {
  const { code } = error as NodeJS.ErrnoException
  const reason = code === 'ECONNREFUSED' ? 'connection refused' : (error as Error).message
  return new Error(
    `failed to connect to localhost:${port} inside the pod: dial tcp 127.0.0.1:${port}: connect: ${reason}`,
    {
      cause: error,
    },
  )
}
