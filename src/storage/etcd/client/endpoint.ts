/** Endpoints of etcd: their URLs, and the TLS settings of all of them. */

import { createConnection, isIP, type NetConnectOpts, type Socket } from 'node:net'
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
  readonly scheme: 'http' | 'https'
  /** The host, with its port. */
  readonly authority: string
  /** Returns more headers of each call, such as the token of a user. */
  readonly metadata?: () => Readonly<Record<string, string>>
  connect(): Socket
}

const defaultPorts = { http: 80, https: 443 } as const

/** Parses `https://HOST:PORT`, `http://…`, `unix:///PATH` or `unixs:///PATH`. Throws ExplainedError for others. */
export function endpointOf(url: string, tls: EtcdTls = {}): Endpoint {
  const parsed = URL.parse(url.includes('://') ? url : `http://${url}`)
  const path = url.slice(url.indexOf('://') + 3)
  switch (parsed?.protocol) {
    case 'unix:':
      return { url, scheme: 'http', authority: 'localhost', connect: () => createConnection({ path }) }
    case 'unixs:':
      return { url, scheme: 'https', authority: 'localhost', connect: () => connectTls({ path }, 'localhost', tls) }
  }
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol) || !parsed.hostname)
    throw new ExplainedError(`${url} is not a URL of etcd: write it as https://HOST:2379`)
  const scheme = parsed.protocol === 'https:' ? 'https' : 'http'
  const host = parsed.hostname.replace(/^\[|\]$/g, '')
  const place = { host, port: Number(parsed.port || defaultPorts[scheme]), noDelay: true }
  const connect = () => (scheme === 'https' ? connectTls(place, host, tls) : createConnection(place))
  return { url, scheme, authority: parsed.host, connect }
}

/** Connects to a place whose certificate must have the name. */
const connectTls = (place: NetConnectOpts, name: string, tls: EtcdTls): Socket =>
  tlsConnect({ ...tls, ...place, ...(isIP(name) ? {} : { servername: name }), ALPNProtocols: ['h2'] })
