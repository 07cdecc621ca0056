/** Messages of Go's network library for errors of Node's, which operators know from events. */

/** By error code of the system. */
const connectMessages: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'connect: connection timed out',
  EADDRNOTAVAIL: 'connect: cannot assign requested address',
  EACCES: 'connect: permission denied',
  EPERM: 'connect: operation not permitted',
}

interface SystemError extends Error {
  readonly code?: string
  readonly hostname?: string
  readonly errors?: readonly Error[]
}

/** Returns for example `dial tcp 10.0.0.1:80: connect: connection refused`; undefined for other kinds of errors. */
export function dialMessage(error: Error, address: string): string | undefined {
  const { code = '', hostname, errors } = error as SystemError
  // A name with several addresses has an error for each.
  const [first] = errors ?? []
  if (first) return dialMessage(first, address)
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${hostname}: no such host`
  if (code === 'EAI_AGAIN') return `dial tcp: lookup ${hostname}: server misbehaving`
  const message = connectMessages[code]
  return message && `dial tcp ${address}: ${message}`
}

/** Codes of OpenSSL for bytes that are not TLS, as a server without TLS answers. */
const notTlsCodes = new Set([
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'ERR_SSL_HTTP_REQUEST',
  'EPROTO',
])

/** Returns the message of an error of an exchange over HTTP. */
export function exchangeMessage(error: Error, address: string): string {
  const dialed = dialMessage(error, address)
  if (dialed !== undefined) return dialed
  const { code = '', message } = error as SystemError
  if (notTlsCodes.has(code) && !/alert/i.test(message)) return httpOverTls
  if (code === 'ECONNRESET')
    return /hang up/.test(message) ? 'EOF' : `read tcp ${address}: read: connection reset by peer`
  if (code === 'EPIPE') return `write tcp ${address}: write: broken pipe`
  if (code.startsWith('HPE_')) return `net/http: HTTP/1.x transport connection broken: ${message}`
  return message
}

/** The message for a server that speaks HTTP where HTTPS was expected. */
export const httpOverTls = 'http: server gave HTTP response to HTTPS client'
