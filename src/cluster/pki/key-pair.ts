/** A check that a certificate with its private key can still be used. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { KeyPair } from '../../lib/x509/key-pair.ts'

export type { KeyPair } from '../../lib/x509/key-pair.ts'

/** A certificate this close to its expiry is renewed at the next start. */
const renewBeforeMs = 30 * 24 * 3600 * 1000

/** Conditions for reusing a certificate. */
export interface Requirements {
  readonly now: Date
  /** Its issuer; undefined for an authority, which is self-signed. */
  readonly authority?: KeyPair
  /** Names and addresses that it must cover. */
  readonly hosts?: readonly string[]
}

/**
 * Returns true if the pair matches, is valid for long enough, was signed by the authority and covers all hosts. Never
 * throws.
 */
export function isUsable(pair: KeyPair, { now, authority, hosts = [] }: Requirements): boolean {
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
    // An unreadable certificate is replaced.
    return false
  }
}
