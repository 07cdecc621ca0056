/** Fetches a whole document from another server over HTTPS. */
import type { IncomingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { refuseUpgrade } from '../../lib/refuse-upgrade.ts'
import { connectionError } from './connection-error.ts'
import { addressOf, type Backend } from './forward/forward.ts'

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
