/** Translates connection errors to the messages of Go's HTTP client, which people and scripts search for. */
import { errorCode } from '../../lib/explained-error.ts'
import { own } from '../../lib/own.ts'

const dialErrors: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  EADDRNOTAVAIL: 'connect: cannot assign requested address',
  EACCES: 'connect: permission denied',
  ETIMEDOUT: 'i/o timeout',
}

const certificateErrors: Readonly<Record<string, string>> = {
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate signed by unknown authority',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate signed by unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate signed by unknown authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate signed by unknown authority',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate signed by unknown authority',
  CERT_SIGNATURE_FAILURE: 'certificate signed by unknown authority',
  CERT_HAS_EXPIRED: 'certificate has expired or is not yet valid',
  CERT_NOT_YET_VALID: 'certificate has expired or is not yet valid',
}

/** `address` is the host and port that was dialled. */
export function connectionError(error: unknown, address: string): string {
  const code = errorCode(error) ?? ''
  const message = error instanceof Error ? error.message : String(error)
  const dial = own(dialErrors, code)
  if (dial) return `dial tcp ${address}: ${dial}`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `dial tcp: lookup ${address.replace(/:\d+$/, '')}: no such host`
  const certificate = own(certificateErrors, code)
  if (certificate) return `tls: failed to verify certificate: x509: ${certificate}`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `tls: failed to verify certificate: x509: ${message}`
  if (code === 'EPROTO' && message.includes('wrong version number'))
    return 'http: server gave HTTP response to HTTPS client'
  if (code === 'ECONNRESET' && message === 'socket hang up') return 'EOF'
  if (code === 'ECONNRESET') return `read tcp ${address}: read: connection reset by peer`
  if (code.startsWith('HPE_')) return `net/http: HTTP/1.x transport connection broken: malformed HTTP response`
  return message
}
