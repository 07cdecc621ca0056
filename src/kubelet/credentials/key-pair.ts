/** Keys of the kubelet, requests to sign them, and certificates that the kubelet signs itself. */
import { createPrivateKey, generateKeyPair, X509Certificate } from 'node:crypto'
import { promisify } from 'node:util'
import { issueCertificate, makeAuthority } from '../../lib/x509/certificates.ts'
import type { KeyPair } from '../../lib/x509/key-pair.ts'

export { signingRequest } from '../../lib/x509/certificates.ts'
export type { KeyPair } from '../../lib/x509/key-pair.ts'

/** Creates a private key, PEM. */
export async function createKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' })
  return privateKey.export({ format: 'pem', type: 'sec1' }).toString()
}

/** Creates a serving certificate that is signed by an authority of its own, valid for a year from `now`. */
export async function selfSigned(name: string, hosts: readonly string[], now: Date): Promise<KeyPair> {
  const seconds = Math.floor(now.getTime() / 1000)
  const authority = await makeAuthority(`${name}-ca@${seconds}`, now)
  const all = [name, ...hosts.filter((host) => host !== name)]
  const { cert, key } = await issueCertificate(
    authority,
    { commonName: `${name}@${seconds}`, usage: 'server', hosts: all },
    now,
  )
  return { cert: cert + authority.cert, key }
}

/** The first certificate of a chain, PEM. Throws if it cannot be read or does not belong to the key. */
export function certificateOf({ cert, key }: KeyPair): X509Certificate {
  const certificate = new X509Certificate(cert)
  if (!certificate.checkPrivateKey(createPrivateKey(key))) throw new Error('the certificate has another key')
  return certificate
}
