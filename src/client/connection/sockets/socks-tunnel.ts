/**
 * Connects through a SOCKS 5 proxy (RFC 1928), with a user name and a password if required (RFC 1929). The proxy
 * resolves host names.
 */
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'

const version = 5
const noCredentials = 0
const password = 2
const connectCommand = 1
const hostNameType = 3
const usualPort = 1080
/** Length in bytes of an address in a reply, by address type. */
const addressBytes: Readonly<Record<number, number>> = { 1: 4, 4: 16 }

const failures: Readonly<Record<number, string>> = {
  1: 'general failure',
  2: 'its rules forbid the connection',
  3: 'the network is unreachable',
  4: 'the host is unreachable',
  5: 'the connection was refused',
  6: 'the connection timed out',
}

/** Resolves with a connection to `host:port` through the proxy. Rejects with an Error that has the reason. */
export async function socksTunnel(proxy: URL, host: string, port: number, timeoutMs: number): Promise<Duplex> {
  const socket = connect({ host: proxy.hostname.replace(/^\[|\]$/g, ''), port: Number(proxy.port || usualPort) })
  // Pending reads report the error.
  socket.on('error', () => {})
  const timeout = setTimeout(() => socket.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs)
  try {
    await handshake(socket, proxy, host, port)
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    clearTimeout(timeout)
  }
}

async function handshake(socket: Socket, proxy: URL, host: string, port: number): Promise<void> {
  const methods = proxy.username ? [noCredentials, password] : [noCredentials]
  socket.write(Buffer.from([version, methods.length, ...methods]))
  const [serverVersion, method] = await readBytes(socket, 2)
  if (serverVersion !== version) throw new Error('it is not a SOCKS 5 proxy')
  if (method === password)
    await authenticate(socket, decodeURIComponent(proxy.username), decodeURIComponent(proxy.password))
  else if (method !== noCredentials) throw new Error('it does not support password authentication')

  const name = Buffer.from(host)
  socket.write(
    Buffer.concat([
      Buffer.from([version, connectCommand, 0, hostNameType, name.length]),
      name,
      Buffer.from([port >> 8, port & 0xff]),
    ]),
  )
  const [, failure = 0, , type = 0] = await readBytes(socket, 4)
  if (failure !== 0) throw new Error(failures[failure] ?? `reply code ${failure}`)
  // The rest of the reply is the proxy's own address, which is not needed.
  const bytes = type === hostNameType ? (await readBytes(socket, 1)).readUInt8() : addressBytes[type]
  if (bytes === undefined) throw new Error('invalid reply')
  await readBytes(socket, bytes + 2)
}

async function authenticate(socket: Socket, name: string, secret: string): Promise<void> {
  const [user, pass] = [Buffer.from(name), Buffer.from(secret)]
  socket.write(Buffer.concat([Buffer.from([1, user.length]), user, Buffer.from([pass.length]), pass]))
  const [, status] = await readBytes(socket, 2)
  if (status !== 0) throw new Error('it rejected the user name and password')
}

/** Reads exactly so many bytes; later bytes belong to the tunneled connection. */
async function readBytes(socket: Socket, bytes: number): Promise<Buffer> {
  for (;;) {
    const chunk = socket.read(bytes) as Buffer | null
    if (chunk?.length === bytes) return chunk
    if (chunk || socket.readableEnded) throw new Error('the connection was closed')
    await new Promise<void>((resolve, reject) => {
      const settle = (end: () => void) => (): void => {
        for (const [event, listener] of listeners) socket.removeListener(event, listener)
        end()
      }
      const closed = settle(() => reject(socket.errored ?? new Error('the connection was closed')))
      const listeners = [
        ['readable', settle(resolve)],
        ['end', closed],
        ['close', closed],
        ['error', closed],
      ] as const
      for (const [event, listener] of listeners) socket.on(event, listener)
    })
  }
}
