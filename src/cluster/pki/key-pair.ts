/** A certificate with its private key, and whether it can still be used. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'

/** Both in PEM form; `cert` may be a chain that begins with the certificate itself. */
export interface KeyPair {
  readonly cert: string
  readonly key: string
}

/** A certificate this close to its end is made anew at the next start. */
const renewBeforeMs = 30 * 24 * 3600 * 1000

/** What a certificate must satisfy to be used again. */
export interface Demands {
  readonly now: Date
  /** Who must have signed it; absent for an authority, which signs itself. */
  readonly authority?: KeyPair
  /** Names and addresses it must be good for. */
  readonly hosts?: readonly string[]
}

/**
 * Whether a pair belongs together, is valid for long enough, was signed by the authority and covers all hosts. Never
 * throws.
 */
export function isUsable(pair: KeyPair, { now, authority, hosts = [] }: Demands): boolean {
  try {
    const certificate = new X509Certificate(pair.cert)
    if (!certificate.checkPrivateKey(createPrivateKey(pair.key))) return false
    if (now < certificate.validFromDate || now.getTime() > certificate.validToDate.getTime() - renewBeforeMs)
      return false
    const issuer = authority ? new X509Certificate(authority.cert) : certificate
    if (!certificate.checkIssued(issuer) || !certificate.verify(issuer.publicKey)) return false
    return hosts.every(
      (host) =>
        (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host, { subject: 'never' })) !== undefined,
    )
  } catch {
    // What cannot be parsed is made anew.
    return false
  }
}
