/** Pins of certificate authorities, as kubeadm writes them: `sha256:` and the hash of the public key (RFC 7469). */
import { createHash, X509Certificate } from 'node:crypto'
import { ExplainedError } from '../../lib/explained-error.ts'

const pinForm = /^sha256:[0-9a-f]{64}$/

/** The pin of a certificate in PEM: of its Subject Public Key Info in DER. */
export function caHash(cert: string): string {
  const { publicKey } = new X509Certificate(cert)
  return `sha256:${createHash('sha256')
    .update(publicKey.export({ format: 'der', type: 'spki' }))
    .digest('hex')}`
}

/** The certificates of a bundle in PEM. */
export const certificatesIn = (bundle: string): readonly string[] =>
  bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []

/** Throws an ExplainedError for a text that is not a pin. */
export function checkPin(pin: string): string {
  const text = pin.toLowerCase()
  if (pinForm.test(text)) return text
  throw new ExplainedError(
    `--discovery-token-ca-cert-hash ${JSON.stringify(pin)} is not a hash of the form sha256:HEX with 64 digits: t8s ` +
      'token create --print-join-command prints it',
  )
}
