/**
 * Which authority a client certificate comes from. The listener checks certificates against all authorities at once; users and front
 * proxies must not be taken for each other.
 */
import { X509Certificate } from 'node:crypto'
import type { DetailedPeerCertificate, PeerCertificate } from 'node:tls'

/** Whether a certificate that the listener has verified comes from one of the authorities. */
export type SignedBy = (certificate: PeerCertificate) => boolean

/** Verdicts that are remembered: over HTTP/1.1 the same certificate is asked about with every request. */
const mostRemembered = 1000

/** For a PEM bundle of authorities. Throws Node's error for what is no certificate. */
export function signedBy(bundle: string): SignedBy {
  const authorities = certificatesOf(bundle)
  const verdicts = new Map<string, boolean>()
  return (certificate) => {
    const known = verdicts.get(certificate.fingerprint256)
    if (known !== undefined) return known
    const verdict = leadsTo(authorities, certificate as DetailedPeerCertificate)
    if (verdicts.size >= mostRemembered) verdicts.clear()
    verdicts.set(certificate.fingerprint256, verdict)
    return verdict
  }
}

export const certificatesOf = (bundle: string): X509Certificate[] =>
  (bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map((pem) => new X509Certificate(pem))

const issued = (certificate: X509Certificate, issuer: X509Certificate): boolean => certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)

/** Goes up the chain as long as each certificate is signed by the next. */
function leadsTo(authorities: readonly X509Certificate[], peer: DetailedPeerCertificate): boolean {
  let at = peer
  for (;;) {
    const certificate = new X509Certificate(at.raw)
    if (authorities.some((authority) => issued(certificate, authority))) return true
    const next = at.issuerCertificate
    if (!next?.raw || next === at || next.fingerprint256 === at.fingerprint256) return false
    if (!issued(certificate, new X509Certificate(next.raw))) return false
    at = next
  }
}
