/**
 * Parses PKCS #10 requests and signs them. Imported only when there is a request, since the X.509 library takes long to
 * load.
 */
import 'reflect-metadata'
import { createPrivateKey, type KeyObject, webcrypto } from 'node:crypto'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Pkcs10CertificateRequest,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'
import { subjectIn } from '../../apiserver/admission/identity/requested-subject.ts'
import type { CertificateTerms, RequestedSubject } from '../../controllers/index.ts'
import { own } from '../../lib/own.ts'
import type { KeyPair } from './key-pair.ts'

/** Rejects with an Error if the PEM is not a request or is not signed by its own key. */
export async function readRequest(pem: string): Promise<RequestedSubject> {
  const request = await verified(pem)
  const names = alternativeNames(request)?.names.items ?? []
  const of = (type: string): string[] => names.filter((name) => name.type === type).map(({ value }) => value)
  return {
    ...subjectIn(request.subjectName),
    dnsNames: of('dns'),
    ipAddresses: of('ip'),
    emailAddresses: of('email'),
    uris: of('url'),
  }
}

/**
 * Returns a PEM certificate with the subject, key and alternative names of the request, which provides nothing else.
 */
export async function signRequest(
  authority: KeyPair,
  pem: string,
  { usages, notBefore, notAfter }: CertificateTerms,
): Promise<string> {
  const request = await verified(pem)
  subjectIn(request.subjectName)
  const issuer = new X509Certificate(authority.cert)
  const flags = usages.reduce((all, usage) => all | (own(keyUsages, usage) ?? 0), 0)
  const extended = [...new Set(usages.flatMap((usage) => own(extendedUsages, usage) ?? []))]
  const names = alternativeNames(request)
  const extensions: Extension[] = [
    ...(flags ? [new KeyUsagesExtension(flags, true)] : []),
    ...(extended.length > 0 ? [new ExtendedKeyUsageExtension(extended)] : []),
    new BasicConstraintsExtension(false, undefined, true),
    await AuthorityKeyIdentifierExtension.create(issuer),
    ...(names ? [new SubjectAlternativeNameExtension(names.names.toJSON())] : []),
  ]
  const certificate = await X509CertificateGenerator.create({
    subject: request.subjectName,
    issuer: issuer.subjectName,
    notBefore,
    notAfter,
    publicKey: request.publicKey,
    ...(await signingKeyOf(authority.key)),
    extensions,
  })
  return `${certificate.toString('pem')}\n`
}

async function verified(pem: string): Promise<Pkcs10CertificateRequest> {
  const request = new Pkcs10CertificateRequest(pem)
  if (!(await request.verify())) throw new Error('the request is not signed by its own key')
  return request
}

const curves: Readonly<Record<string, string>> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' }

/** Returns the signature algorithm of an authority's key, which may come from another tool. */
function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): {
  readonly name: string
  readonly hash: string
  readonly namedCurve?: string
} {
  if (asymmetricKeyType === 'rsa') return { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
  const namedCurve = curves[asymmetricKeyDetails?.namedCurve ?? '']
  if (asymmetricKeyType === 'ec' && namedCurve) return { name: 'ECDSA', namedCurve, hash: 'SHA-256' }
  throw new Error(`keys of authorities are RSA or ECDSA on P-256, P-384 or P-521, not ${asymmetricKeyType}`)
}

/** Imports a private key in PEM form for signing. Rejects with an Error for other kinds of keys. */
async function signingKeyOf(pem: string) {
  const key = createPrivateKey(pem)
  const signingAlgorithm = algorithmOf(key)
  return {
    signingKey: await webcrypto.subtle.importKey(
      'pkcs8',
      key.export({ format: 'der', type: 'pkcs8' }),
      signingAlgorithm,
      false,
      ['sign'],
    ),
    signingAlgorithm,
  }
}

const alternativeNames = ({ extensions }: Pkcs10CertificateRequest): SubjectAlternativeNameExtension | undefined =>
  extensions.find((extension) => extension instanceof SubjectAlternativeNameExtension)

/** RFC 5280, 4.2.1.3. */
const keyUsages: Readonly<Record<string, number>> = {
  signing: KeyUsageFlags.digitalSignature,
  'digital signature': KeyUsageFlags.digitalSignature,
  'content commitment': KeyUsageFlags.nonRepudiation,
  'key encipherment': KeyUsageFlags.keyEncipherment,
  'key agreement': KeyUsageFlags.keyAgreement,
  'data encipherment': KeyUsageFlags.dataEncipherment,
  'cert sign': KeyUsageFlags.keyCertSign,
  'crl sign': KeyUsageFlags.cRLSign,
  'encipher only': KeyUsageFlags.encipherOnly,
  'decipher only': KeyUsageFlags.decipherOnly,
}

/** RFC 5280, 4.2.1.12, and vendors' own. */
const extendedUsages: Readonly<Record<string, string>> = {
  any: '2.5.29.37.0',
  'server auth': ExtendedKeyUsage.serverAuth,
  'client auth': ExtendedKeyUsage.clientAuth,
  'code signing': ExtendedKeyUsage.codeSigning,
  'email protection': ExtendedKeyUsage.emailProtection,
  's/mime': ExtendedKeyUsage.emailProtection,
  'ipsec end system': '1.3.6.1.5.5.7.3.5',
  'ipsec tunnel': '1.3.6.1.5.5.7.3.6',
  'ipsec user': '1.3.6.1.5.5.7.3.7',
  timestamping: ExtendedKeyUsage.timeStamping,
  'ocsp signing': ExtendedKeyUsage.ocspSigning,
  'microsoft sgc': '1.3.6.1.4.1.311.10.3.3',
  'netscape sgc': '2.16.840.1.113730.4.1',
}
