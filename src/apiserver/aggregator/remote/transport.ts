/**
 * Connections to the server of an aggregated API: TLS with the front proxy's client certificate; the APIService defines
 * how the server's certificate is verified.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import type { ConnectionOptions } from 'node:tls'
import { refuseUpgrade } from '../../../lib/refuse-upgrade.ts'
import type { Backend, ServiceReference } from '../../outgoing/index.ts'
import { addressOf, connectionError } from '../../outgoing/index.ts'
import { type APIService, serviceOf } from '../api-service.ts'

/** The client certificate of the front proxy. */
export interface ProxyClient {
  readonly cert: string
  readonly key: string
}

export interface Transport {
  readonly tls: ConnectionOptions
  readonly agent: Agent
}

/** Idle connections are closed after this, so that none is used after the other side has closed it. */
const idleMs = 30_000

export function transportFor(service: APIService, client: ProxyClient | undefined): Transport {
  const { caBundle, insecureSkipTLSVerify } = service.spec ?? {}
  const { namespace, name } = serviceOf(service) as ServiceReference
  const tls: ConnectionOptions = {
    servername: `${name}.${namespace}.svc`,
    rejectUnauthorized: !insecureSkipTLSVerify,
    ...(caBundle && { ca: Buffer.from(caBundle, 'base64') }),
    ...client,
  }
  return { tls, agent: new Agent({ keepAlive: true, timeout: idleMs, maxFreeSockets: 16 }) }
}

export interface FetchedDocument {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Larger documents are an error. */
const maxBytes = 32 * 1024 * 1024

/** Fetches a document. Rejects with an Error, worded as Go's, on failure or after `timeoutMs`. */
export function fetchDocument(
  backend: Backend,
  path: string,
  headers: Readonly<Record<string, string | string[]>>,
  timeoutMs: number,
): Promise<FetchedDocument> {
  const { host, port, tls, agent } = backend
  const url = `https://${addressOf(backend)}${path}`
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`Get ${JSON.stringify(url)}: ${why}`))
    const sent = httpsRequest({
      ...tls,
      host,
      port,
      agent,
      path,
      method: 'GET',
      headers: { host: addressOf(backend), ...headers },
    })
    const deadline = setTimeout(() => {
      fail('context deadline exceeded (Client.Timeout exceeded while awaiting headers)')
      sent.destroy()
    }, timeoutMs)
    deadline.unref()
    refuseUpgrade(sent).on('close', () => clearTimeout(deadline))
    sent.on('error', (error) => fail(connectionError(error, addressOf(backend))))
    sent.on('response', (response) => {
      const pieces: Buffer[] = []
      let size = 0
      response.on('data', (piece: Buffer) => {
        pieces.push(piece)
        size += piece.length
        if (size > maxBytes) sent.destroy(new Error('http: response body too large'))
      })
      response.on('error', (error) => fail(connectionError(error, addressOf(backend))))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(pieces) }),
      )
    })
    sent.end()
  })
}
