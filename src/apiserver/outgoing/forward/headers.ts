/** Headers of forwarded requests: headers of one connection are not forwarded, nor are the client's credentials. */
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Request } from '../../http/exchange.ts'
import { tokenProtocol } from '../../http/websocket-token.ts'
import { identityHeadersOf } from './identity-headers.ts'

/** Headers of one connection (RFC 9110, 7.6.1), and those that each side sets itself. */
const connectionHeaders: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
])

/** Headers with a single value (RFC 9110). Node does not write more values of them over HTTP/2. */
const singularHeaders: ReadonlySet<string> = new Set([
  'access-control-allow-credentials',
  'access-control-max-age',
  'access-control-request-method',
  'age',
  'authorization',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-md5',
  'content-range',
  'content-type',
  'date',
  'dnt',
  'etag',
  'expires',
  'from',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'proxy-authorization',
  'range',
  'referer',
  'retry-after',
  'tk',
  'upgrade-insecure-requests',
  'user-agent',
  'x-content-type-options',
])

const localHeaders: ReadonlySet<string> = new Set(['host', 'expect', 'authorization'])

/** The headers of a request for its backend, without the client's credentials. */
export function forwardedHeaders(request: Request): OutgoingHttpHeaders {
  const connectionOptions = new Set(
    (request.header('connection') ?? '').split(',').map((name) => name.trim().toLowerCase()),
  )
  const isIdentity = identityHeadersOf(request)
  const headers: OutgoingHttpHeaders = {}
  for (const name of request.headerNames()) {
    if (
      name.startsWith(':') ||
      connectionHeaders.has(name) ||
      connectionOptions.has(name) ||
      localHeaders.has(name) ||
      isIdentity(name)
    )
      continue
    const values = request.headerValues(name)
    if (name === 'cookie') headers[name] = values.join('; ')
    else if (name === 'sec-websocket-protocol') headers[name] = withoutTokens(values)
    else headers[name] = values.length === 1 ? values[0] : [...values]
  }
  const forwardedFor = request.header('x-forwarded-for')
  headers['x-forwarded-for'] = forwardedFor ? `${forwardedFor}, ${request.remoteAddress}` : request.remoteAddress
  return headers
}

const withoutTokens = (values: readonly string[]): string =>
  values
    .flatMap((value) => value.split(','))
    .map((protocol) => protocol.trim())
    .filter((protocol) => !protocol.startsWith(tokenProtocol))
    .join(', ')

/** The headers of a backend's response for the client. Of headers with a single value, the first is used. */
export function answerHeaders({ headersDistinct, headers }: IncomingMessage): Record<string, string | string[]> {
  const connectionOptions = new Set((headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()))
  const forwarded: Record<string, string | string[]> = {}
  for (const [name, values] of Object.entries(headersDistinct)) {
    if (!values || connectionHeaders.has(name) || connectionOptions.has(name)) continue
    forwarded[name] = values.length === 1 || singularHeaders.has(name) ? values[0]! : values
  }
  return forwarded
}
