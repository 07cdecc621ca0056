/** The client side of upgrades: opens a connection to a streaming server, such as a container runtime's. */
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { HttpError } from '../../http-error.ts'
import { SpdyConnection } from './spdy-connection.ts'

/** A response to an upgrade: with status 101, the connection is switched; otherwise the response can be read. */
export interface UpgradeAnswer {
  readonly response: IncomingMessage
  /** Undefined if the server has rejected the upgrade. */
  readonly connection: { readonly socket: Duplex; readonly head: Buffer } | undefined
}

/** How long a streaming server may take to answer, in ms. */
const answerMs = 30_000

/** Sends a request for an upgrade. Rejects if the server cannot be reached or does not answer. */
export function requestUpgrade(url: string, method: string, headers: OutgoingHttpHeaders): Promise<UpgradeAnswer> {
  const target = new URL(url)
  const options = {
    method,
    headers,
    agent: false,
    // The runtime may end its side while the client still sends.
    ...(target.protocol === 'http:' && {
      createConnection: () => connect({ host: hostOf(target), port: Number(target.port), allowHalfOpen: true }),
    }),
  }
  const { promise, resolve, reject } = Promise.withResolvers<UpgradeAnswer>()
  const sent = target.protocol === 'https:' ? tlsRequest(target, options) : plainRequest(target, options)
  const late = setTimeout(() => sent.destroy(new Error(`${target.host} does not answer`)), answerMs)
  sent.on('close', () => clearTimeout(late))
  sent.on('error', reject)
  sent.on('response', (response) => {
    clearTimeout(late)
    resolve({ response, connection: undefined })
  })
  sent.on('upgrade', (response, socket, head) => {
    clearTimeout(late)
    resolve({ response, connection: { socket, head } })
  })
  sent.end()
  return promise
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

/** Opens an SPDY connection for streams of one of the versions. Rejects with an HttpError if the server rejects it. */
export async function connectSpdy(url: string, versions: readonly string[]): Promise<SpdyConnection> {
  const { response, connection } = await requestUpgrade(url, 'POST', {
    connection: 'Upgrade',
    upgrade: 'SPDY/3.1',
    'x-stream-protocol-version': [...versions],
  })
  if (!connection) throw new HttpError(response.statusCode ?? 500, (await text(response)).trimEnd())
  return new SpdyConnection(connection.socket, connection.head, (stream) => stream.destroy(), 'client')
}
