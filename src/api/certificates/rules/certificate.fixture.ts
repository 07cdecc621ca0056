/** Certificate requests and certificates for tests. */
import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import {
  BasicConstraintsExtension,
  Pkcs10CertificateRequestGenerator,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'

export type Keys = webcrypto.CryptoKeyPair

const ecdsa = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const rsa = (modulusLength: number) => ({
  name: 'RSASSA-PKCS1-v1_5',
  modulusLength,
  publicExponent: new Uint8Array([1, 0, 1]),
  hash: 'SHA-256',
})

export const ecKeys = (): Promise<Keys> =>
  webcrypto.subtle.generateKey(ecdsa, true, ['sign', 'verify']) as Promise<Keys>
export const rsaKeys = (bits = 2048): Promise<Keys> => webcrypto.subtle.generateKey(rsa(bits), true, ['sign', 'verify'])

export const publicBytes = async ({ publicKey }: Keys): Promise<Buffer> =>
  Buffer.from(await webcrypto.subtle.exportKey('spki', publicKey))

/** Returns a PKCS #10 request signed with the keys. */
export const requestOf = (keys: Keys, subject = 'CN=jane') =>
  Pkcs10CertificateRequestGenerator.create({
    name: subject,
    keys,
    signingAlgorithm: keys.publicKey.algorithm.name === 'ECDSA' ? ecdsa : rsa(2048),
  })

export interface CertificateOptions {
  readonly isAuthority?: boolean
  readonly notBefore?: Date
  readonly notAfter?: Date
  readonly dnsNames?: readonly string[]
}

/** Returns a self-signed certificate of the keys, in PEM form. */
export async function certificateOf(
  keys: Keys,
  { isAuthority = false, notBefore = new Date(), notAfter, dnsNames = [] }: CertificateOptions = {},
): Promise<string> {
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=test',
    keys,
    signingAlgorithm: ecdsa,
    notBefore,
    notAfter: notAfter ?? new Date(notBefore.getTime() + 2 * 3_600_000),
    extensions: [
      new BasicConstraintsExtension(isAuthority, undefined, true),
      ...(dnsNames.length > 0
        ? [new SubjectAlternativeNameExtension(dnsNames.map((value) => ({ type: 'dns' as const, value })))]
        : []),
    ],
  })
  return `${certificate.toString('pem')}\n`
}
