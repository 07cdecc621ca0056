/** Connects clients with ports of a pod. */
import { once } from 'node:events'
import { connect, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { finished } from 'node:stream/promises'
import { loadLibc } from '../../host/libc.ts'

/** The network of a pod: the file of a namespace, or a name or address by which it can be reached. */
export type PodNetwork = { readonly namespaceFile: string } | { readonly host: string }

/** Resolves when both sides are closed. */
export async function forwardPort(network: PodNetwork, port: number, client: Duplex): Promise<void> {
  const socket = await open(network, port)
  socket.pipe(client, { end: true })
  client.pipe(socket, { end: true })
  const leave = (): void => void socket.destroy()
  client.once('close', leave)
  const stopLinger = closeAfterEnd(socket, client)
  try {
    await finished(socket).catch((error) => {
      if (!socket.readableEnded && !client.destroyed && socket.bytesRead === 0) throw refused(port, error)
    })
  } finally {
    stopLinger()
    client.off('close', leave)
    socket.destroy()
  }
}

/** A program that has ended its output seldom reads on: the input may be quiet for so long. In ms. */
const lingerMs = 100

/**
 * Closes both halves of the connection soon after the pod has ended its own: before that, kubectl closes no connection
 * of its clients. Returns a function that stops it.
 */
function closeAfterEnd(socket: Socket, client: Duplex): () => void {
  let timer: NodeJS.Timeout | undefined
  const linger = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => socket.destroy(), lingerMs)
  }
  socket.once('end', () => {
    client.on('data', linger)
    linger()
  })
  return () => {
    clearTimeout(timer)
    client.off('data', linger)
  }
}

async function open(network: PodNetwork, port: number): Promise<Socket> {
  try {
    if ('host' in network) {
      const socket = connect({ host: network.host, port, allowHalfOpen: true })
      await once(socket, 'connect')
      return socket
    }
    const libc = loadLibc()
    return new Socket({
      fd: libc.connectIn(network.namespaceFile, port),
      readable: true,
      writable: true,
      allowHalfOpen: true,
    })
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
