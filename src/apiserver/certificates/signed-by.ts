/**
 * Determines the CA of a client certificate. The listener accepts certificates of all CAs, but users and front proxies
 * must be distinguished.
 */
import { X509Certificate } from 'node:crypto'
import type { DetailedPeerCertificate, PeerCertificate } from 'node:tls'

/** CA certificates in PEM; a function if they may change. */
export type Bundle = string | (() => string)

export const bundleText = (bundle: Bundle): string => (typeof bundle === 'string' ? bundle : bundle())

/** Joins several bundles. */
export function joinedBundles(bundles: readonly Bundle[]): Bundle {
  const join = (texts: readonly string[]): string => texts.join('\n')
  if (bundles.every((bundle) => typeof bundle === 'string')) return join(bundles)
  let texts: readonly string[] = []
  let joined = ''
  return () => {
    const current = bundles.map(bundleText)
    if (current.some((text, index) => text !== texts[index])) {
      texts = current
      joined = join(texts)
    }
    return joined
  }
}

/** Returns true if a certificate that the listener has verified is from one of the CAs, for clients, and valid now. */
export type SignedBy = (certificate: PeerCertificate) => boolean

interface Known {
  readonly isSigned: boolean
  readonly fromMs: number
  readonly untilMs: number
}

/** The number of cached verdicts: over HTTP/1.1 each request checks the certificate. */
const maxVerdicts = 1000

/** Throws Node's error for an invalid certificate. */
export function signedBy(bundle: Bundle, now: () => number = Date.now): SignedBy {
  let text = bundleText(bundle)
  let authorities = certificatesOf(text)
  const verdicts = new Map<string, Known>()
  return (certificate) => {
    const current = bundleText(bundle)
    if (current !== text) {
      text = current
      authorities = certificatesOf(text)
      verdicts.clear()
    }
    let known = verdicts.get(certificate.fingerprint256)
    if (!known) {
      if (verdicts.size >= maxVerdicts) verdicts.clear()
      verdicts.set(certificate.fingerprint256, (known = judge(authorities, certificate as DetailedPeerCertificate)))
    }
    // Connections may outlive their certificates.
    const at = now()
    return known.isSigned && known.fromMs <= at && at <= known.untilMs
  }
}

export const certificatesOf = (bundle: string): X509Certificate[] =>
  (bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map(
    (pem) => new X509Certificate(pem),
  )

function judge(authorities: readonly X509Certificate[], peer: DetailedPeerCertificate): Known {
  const certificate = new X509Certificate(peer.raw)
  return {
    isSigned: isForClients(certificate) && isSignedByChain(authorities, peer),
    fromMs: certificate.validFromDate.getTime(),
    untilMs: certificate.validToDate.getTime(),
  }
}

const clientAuth = '1.3.6.1.5.5.7.3.2'
const anyUsage = '2.5.29.37.0'

/** A certificate without usages is good for all of them (RFC 5280, 4.2.1.12). */
function isForClients({ keyUsage }: X509Certificate): boolean {
  const usages: readonly string[] = keyUsage ?? []
  return usages.length === 0 || usages.includes(clientAuth) || usages.includes(anyUsage)
}

const issued = (certificate: X509Certificate, issuer: X509Certificate): boolean =>
  certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)

/** Follows the chain while each certificate is signed by the next. */
function isSignedByChain(authorities: readonly X509Certificate[], peer: DetailedPeerCertificate): boolean {
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
