/** Validation of issued certificates, in PEM form. */
import { X509Certificate } from 'node:crypto'
import { pemBlocks } from './pem-blocks.ts'

/** Parses a certificate. Returns undefined if it is no X.509 certificate. */
export function parseCertificate(bytes: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(bytes)
  } catch {
    return undefined
  }
}

/** Returns an error message, or undefined if the text is a list of certificates. */
export function issuedFault(text: string): string | undefined {
  const blocks = pemBlocks(text)
  for (const { type, hasHeaders, bytes } of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`
    if (hasHeaders) return 'no PEM block headers are permitted'
    if (!parseCertificate(bytes)) return 'x509: malformed certificate'
  }
  return blocks.length === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined
}
