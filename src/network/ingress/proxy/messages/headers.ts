/** Headers of forwarded requests and responses. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import type { HeaderChanges } from '../../picture/route.ts'

/** Headers of one connection (RFC 9110, 7.6.1), which are not forwarded. */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
])

/** Set by the proxy alone: values of clients could deceive backends. `expect` is answered by the proxy. */
const ownHeaders: ReadonlySet<string> = new Set([
  'expect',
  'forwarded',
  'host',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-real-ip',
])

/** The client's connection, and the authority that it has requested. */
export interface Client {
  readonly address: string
  readonly scheme: 'http' | 'https'
  /** The authority of the request, as the client has sent it. */
  readonly authority: string
  /** The port that the client has connected to. */
  readonly port: number
}

/** The headers for a backend, without those of the connection and pseudo headers; `x-forwarded-…` names the client. */
export function forwardedHeaders(headers: IncomingHttpHeaders, client: Client): OutgoingHttpHeaders {
  const forwarded = endToEnd(headers, ownHeaders)
  forwarded['x-forwarded-for'] = client.address
  forwarded['x-forwarded-host'] = client.authority
  forwarded['x-forwarded-port'] = String(client.port)
  forwarded['x-forwarded-proto'] = client.scheme
  forwarded['x-real-ip'] = client.address
  // The only value that may be forwarded; gRPC needs it.
  if (/(^|,)\s*trailers\s*(,|$)/i.test(String(headers.te ?? ''))) forwarded.te = 'trailers'
  return forwarded
}

const none: ReadonlySet<string> = new Set()

/** The headers of a backend's response, for the client. */
export const responseHeaders = (headers: IncomingHttpHeaders): OutgoingHttpHeaders => endToEnd(headers, none)

function endToEnd(headers: IncomingHttpHeaders, dropped: ReadonlySet<string>): OutgoingHttpHeaders {
  const listed = new Set((headers.connection ?? '').toLowerCase().split(/\s*,\s*/))
  const kept: OutgoingHttpHeaders = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name.startsWith(':')) continue
    if (!hopByHop.has(name) && !dropped.has(name) && !listed.has(name)) kept[name] = value
  }
  return kept
}

/** Applies changes of a filter. */
export function changeHeaders(headers: OutgoingHttpHeaders, changes: HeaderChanges | undefined): void {
  if (!changes) return
  for (const [name, value] of changes.set) headers[name] = value
  for (const [name, value] of changes.add) {
    const old = headers[name]
    headers[name] = old === undefined ? value : [...(Array.isArray(old) ? old : [String(old)]), value]
  }
  for (const name of changes.remove) delete headers[name]
}
