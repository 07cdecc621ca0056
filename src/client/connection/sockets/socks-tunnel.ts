/**
 * A way to a server through a SOCKS 5 proxy (RFC 1928), with a name and a password if it wants them (RFC 1929). The
 * proxy looks names up.
 */
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'

const version = 5
const noCredentials = 0
const password = 2
const connectCommand = 1
const hostNameType = 3
const usualPort = 1080
/** How long an address is in an answer, by its type. */
const addressBytes: Readonly<Record<number, number>> = { 1: 4, 4: 16 }

const failures: Readonly<Record<number, string>> = {
  1: 'it has failed',
  2: 'its rules do not allow it',
  3: 'the network cannot be reached',
  4: 'the host cannot be reached',
  5: 'the connection was refused',
  6: 'it took too long',
}

/** Resolves with a connection to `host:port` by way of the proxy. Rejects with an Error that says what is wrong. */
export async function socksTunnel(proxy: URL, host: string, port: number, timeoutMs: number): Promise<Duplex> {
  const socket = connect({ host: proxy.hostname.replace(/^\[|\]$/g, ''), port: Number(proxy.port || usualPort) })
  // Whoever waits for something is told.
  socket.on('error', () => {})
  const late = setTimeout(() => socket.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs)
  try {
    await ask(socket, proxy, host, port)
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    clearTimeout(late)
  }
}

async function ask(socket: Socket, proxy: URL, host: string, port: number): Promise<void> {
  const methods = proxy.username ? [noCredentials, password] : [noCredentials]
  socket.write(Buffer.from([version, methods.length, ...methods]))
  const [spoken, method] = await take(socket, 2)
  if (spoken !== version) throw new Error('it is no SOCKS 5 proxy')
  if (method === password) await sayWho(socket, decodeURIComponent(proxy.username), decodeURIComponent(proxy.password))
  else if (method !== noCredentials) throw new Error('it wants other credentials')

  const name = Buffer.from(host)
  socket.write(
    Buffer.concat([
      Buffer.from([version, connectCommand, 0, hostNameType, name.length]),
      name,
      Buffer.from([port >> 8, port & 0xff]),
    ]),
  )
  const [, failure = 0, , type = 0] = await take(socket, 4)
  if (failure !== 0) throw new Error(failures[failure] ?? `it answered ${failure}`)
  // Where it connects from is nobody's concern.
  const bytes = type === hostNameType ? (await take(socket, 1)).readUInt8() : addressBytes[type]
  if (bytes === undefined) throw new Error('its answer makes no sense')
  await take(socket, bytes + 2)
}

async function sayWho(socket: Socket, name: string, secret: string): Promise<void> {
  const [user, pass] = [Buffer.from(name), Buffer.from(secret)]
  socket.write(Buffer.concat([Buffer.from([1, user.length]), user, Buffer.from([pass.length]), pass]))
  const [, status] = await take(socket, 2)
  if (status !== 0) throw new Error('it does not take the name and the password')
}

/** Exactly so many bytes: what comes behind them is the server's. */
async function take(socket: Socket, bytes: number): Promise<Buffer> {
  for (;;) {
    const taken = socket.read(bytes) as Buffer | null
    if (taken?.length === bytes) return taken
    if (taken || socket.readableEnded) throw new Error('the connection was closed')
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
