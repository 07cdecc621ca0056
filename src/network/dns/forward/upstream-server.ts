/** One server that queries are forwarded to: by UDP, and by TCP if an answer is too long. */
import { createSocket } from 'node:dgram'
import { connect, isIP } from 'node:net'
import { headerBytes, headerFlags } from '../wire/record-types.ts'

/** The address and port of a server. */
export interface ServerAddress {
  readonly address: string
  readonly port: number
}

/** `192.0.2.53:53` or `[2001:db8::53]:53`. */
export const serverText = ({ address, port }: ServerAddress): string =>
  isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`

/**
 * Parses `192.0.2.53`, `192.0.2.53:5353`, `2001:db8::53` or `[2001:db8::53]:5353`; undefined for anything else. A
 * link-local address may have its interface: `fe80::1%eth0`.
 */
export function parseServer(text: string): ServerAddress | undefined {
  const [, bracketed, plain, port = '53'] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d+))?$/.exec(text) ?? []
  const address = bracketed ?? plain ?? text
  const number = Number(bracketed === undefined && plain === undefined ? 53 : port)
  if (isIP(address) === 0 || number < 1 || number > 65_535) return undefined
  return { address, port: number }
}

/** @throws after the time, and if the server cannot be reached or its answer does not fit the question. */
export async function askServer(server: ServerAddress, message: Buffer, timeoutMs: number): Promise<Buffer> {
  const signal = AbortSignal.timeout(timeoutMs)
  const response = await askByUdp(server, message, signal)
  if ((response.readUInt16BE(2) & headerFlags.truncated) === 0) return response
  return askByTcp(server, message, signal)
}

/** Each query has a socket, so that its port and ID cannot be guessed. Others' packets are ignored. */
function askByUdp({ address, port }: ServerAddress, message: Buffer, signal: AbortSignal): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const socket = createSocket(isIP(address) === 6 ? 'udp6' : 'udp4')
  const onAbort = (): void => reject(new Error('no answer in time'))
  signal.addEventListener('abort', onAbort, { once: true })
  socket.on('error', reject)
  socket.on('message', (response) => {
    if (isAnswerTo(message, response)) resolve(response)
  })
  // A callback would be called after a failure, too, in place of the event of an error.
  socket.on('connect', () => socket.send(message))
  socket.connect(port, address)
  return promise.finally(() => {
    signal.removeEventListener('abort', onAbort)
    socket.close()
  })
}

function askByTcp({ address, port }: ServerAddress, message: Buffer, signal: AbortSignal): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const socket = connect({ host: address, port })
  const onAbort = (): void => reject(new Error('no answer in time'))
  signal.addEventListener('abort', onAbort, { once: true })
  let received = Buffer.alloc(0)
  socket.on('error', reject)
  socket.on('end', () => reject(new Error('the connection ended before the answer')))
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk])
    if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return
    const response = received.subarray(2, 2 + received.readUInt16BE(0))
    if (isAnswerTo(message, response)) resolve(response)
    else reject(new Error('the answer is for another question'))
  })
  const length = Buffer.alloc(2)
  length.writeUInt16BE(message.length)
  socket.write(Buffer.concat([length, message]))
  return promise.finally(() => {
    signal.removeEventListener('abort', onAbort)
    socket.destroy()
  })
}

/** Servers may answer an error without the question. */
function isAnswerTo(query: Buffer, response: Buffer): boolean {
  if (response.length < headerBytes || response.readUInt16BE(0) !== query.readUInt16BE(0)) return false
  if ((response.readUInt16BE(2) & headerFlags.response) === 0) return false
  if (response.readUInt16BE(4) === 0) return (response.readUInt16BE(2) & 15) !== 0
  const end = questionEnd(query)
  return response.length >= end && response.compare(query, headerBytes, end, headerBytes, end) === 0
}

/** The offset after the question of a message of this server. */
function questionEnd(message: Buffer): number {
  let at = headerBytes
  while (message[at]) at += message[at]! + 1
  return at + 5
}
