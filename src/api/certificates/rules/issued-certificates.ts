/** Certificates that a signer hands out, as PEM. */
import { X509Certificate } from 'node:crypto'
import { pemBlocks } from './pem-blocks.ts'

/** Undefined for what is no X.509 certificate. */
export function parsedCertificate(bytes: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(bytes)
  } catch {
    return undefined
  }
}

/** Why a text is no list of certificates; undefined if it is one. */
export function issuedFault(text: string): string | undefined {
  const blocks = pemBlocks(text)
  for (const { type, hasHeaders, bytes } of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`
    if (hasHeaders) return 'no PEM block headers are permitted'
    if (!parsedCertificate(bytes)) return 'x509: malformed certificate'
  }
  return blocks.length === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined
}
