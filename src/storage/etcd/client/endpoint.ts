/** Endpoints of etcd: their URLs, and the TLS settings of all of them. */

import type { SecureClientSessionOptions } from 'node:http2'
import { createConnection } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import { ExplainedError } from '../../../lib/explained-error.ts'

/** PEM files of TLS. Without a CA, the authorities of the system are trusted. */
export interface EtcdTls {
  readonly ca?: Buffer
  readonly cert?: Buffer
  readonly key?: Buffer
}

export interface Endpoint {
  /** As configured: `https://10.0.0.1:2379`. */
  readonly url: string
  /** The URL and options of a session. */
  readonly authority: string
  readonly session: SecureClientSessionOptions
  /** Returns more headers of each call, such as the token of a user. */
  readonly metadata?: () => Readonly<Record<string, string>>
}

const socketSchemes: readonly string[] = ['unix:', 'unixs:']

/** Parses `https://HOST:PORT`, `http://…`, `unix:///PATH` or `unixs:///PATH`. Throws ExplainedError for others. */
export function endpointOf(url: string, tls: EtcdTls = {}): Endpoint {
  const parsed = URL.parse(url.includes('://') ? url : `http://${url}`)
  if (parsed && socketSchemes.includes(parsed.protocol)) {
    const path = url.slice(url.indexOf('://') + 3)
    if (parsed.protocol === 'unix:')
      return { url, authority: 'http://localhost', session: { createConnection: () => createConnection(path) } }
    const secured = { ...tls, path, servername: 'localhost', ALPNProtocols: ['h2'] }
    return { url, authority: 'https://localhost', session: { createConnection: () => tlsConnect(secured) } }
  }
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol) || !parsed.hostname)
    throw new ExplainedError(`${url} is not a URL of etcd: write it as https://HOST:2379`)
  return { url, authority: parsed.origin, session: parsed.protocol === 'https:' ? { ...tls } : {} }
}
