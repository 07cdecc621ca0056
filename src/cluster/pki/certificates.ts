/**
 * Makes certificates. Loading the X.509 library costs more than the rest of a start, so this file is only imported when
 * something has to be made; checking what exists is done with node:crypto (`pki.ts`).
 */
import 'reflect-metadata'
import { createPrivateKey, type KeyObject, webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  type JsonGeneralName,
  KeyUsageFlags,
  KeyUsagesExtension,
  Name,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'
import type { KeyPair } from './key-pair.ts'

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const dayMs = 24 * 3600 * 1000
const authorityDays = 3653
const certificateDays = 365
/** Certificates begin in the past, for machines whose clock is behind. */
const backdateMs = 3600 * 1000

export interface CertificateRequest {
  readonly commonName: string
  readonly organizations?: readonly string[]
  readonly usage: 'server' | 'client'
  /** Host names and IP addresses. */
  readonly hosts?: readonly string[]
}

/** A new certificate authority, valid for ten years from `now`. */
export async function makeAuthority(commonName: string, now: Date): Promise<KeyPair> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const name = subject(commonName)
  const certificate = await X509CertificateGenerator.create({
    subject: name,
    issuer: name,
    ...validity(now, authorityDays),
    publicKey: keys.publicKey,
    signingKey: keys.privateKey,
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature | KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { cert: pemText(certificate), key: await privatePem(keys.privateKey) }
}

/** A certificate signed by `authority`, valid for a year from `now`, with a new key. */
export async function issueCertificate(authority: KeyPair, request: CertificateRequest, now: Date): Promise<KeyPair> {
  const issuer = new X509Certificate(authority.cert)
  const [keys, signing, authorityKeyId] = await Promise.all([
    webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']),
    signingKeyOf(authority.key),
    AuthorityKeyIdentifierExtension.create(issuer),
  ])
  const extensions: Extension[] = [
    new BasicConstraintsExtension(false, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
    new ExtendedKeyUsageExtension([request.usage === 'server' ? ExtendedKeyUsage.serverAuth : ExtendedKeyUsage.clientAuth]),
    authorityKeyId,
  ]
  if (request.hosts?.length) extensions.push(new SubjectAlternativeNameExtension(request.hosts.map(alternativeName)))
  const certificate = await X509CertificateGenerator.create({
    subject: subject(request.commonName, request.organizations),
    issuer: issuer.subjectName,
    ...validity(now, certificateDays),
    publicKey: keys.publicKey,
    ...signing,
    extensions,
  })
  return { cert: pemText(certificate), key: await privatePem(keys.privateKey) }
}

const subject = (commonName: string, organizations: readonly string[] = []): Name =>
  new Name([...organizations.map((name) => ({ O: [name] })), { CN: [commonName] }])

const alternativeName = (host: string): JsonGeneralName => ({ type: isIP(host) ? 'ip' : 'dns', value: host })

const validity = (now: Date, days: number) => ({ notBefore: new Date(now.getTime() - backdateMs), notAfter: new Date(now.getTime() + days * dayMs) })

export const pemText = (certificate: X509Certificate): string => `${certificate.toString('pem')}\n`

async function privatePem(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key))
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({ format: 'pem', type: 'pkcs8' }).toString()
}

const curves: Readonly<Record<string, string>> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' }

/** How a key signs certificates: those of authorities that others made are of many kinds. */
function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): { readonly name: string; readonly hash: string; readonly namedCurve?: string } {
  if (asymmetricKeyType === 'rsa') return { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
  const namedCurve = curves[asymmetricKeyDetails?.namedCurve ?? '']
  if (asymmetricKeyType === 'ec' && namedCurve) return { name: 'ECDSA', namedCurve, hash: 'SHA-256' }
  throw new Error(`keys of authorities are RSA or ECDSA on P-256, P-384 or P-521, not ${asymmetricKeyType}`)
}

/** A private key in PEM form, for signing, with how it signs. Rejects with an Error for keys of other kinds. */
export async function signingKeyOf(pem: string) {
  const key = createPrivateKey(pem)
  const signingAlgorithm = algorithmOf(key)
  return {
    signingKey: await webcrypto.subtle.importKey('pkcs8', key.export({ format: 'der', type: 'pkcs8' }), signingAlgorithm, false, ['sign']),
    signingAlgorithm,
  }
}
