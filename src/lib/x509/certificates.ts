/**
 * Creates certificates (RFC 5280) and requests for them (RFC 2986) with node:crypto only. Loading a library for X.509
 * would take a fifth of a first start, and memory; it is only needed to read requests of others.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { isIP } from 'node:net'
import { promisify } from 'node:util'
import { parseCidr } from '../cidr.ts'
import {
  bits,
  contentOf,
  element,
  elementsOf,
  explicit,
  implicit,
  octets,
  oid,
  positive,
  sequence,
  set,
  tags,
  time,
  utf8,
  yes,
} from './der.ts'
import type { KeyPair } from './key-pair.ts'

const dayMs = 24 * 3600 * 1000
const authorityDays = 3653
const certificateDays = 365
/** Certificates are valid from an hour earlier, for machines whose clock is behind. */
const backdateMs = 3600 * 1000

export interface CertificateRequest {
  readonly commonName: string
  readonly organizations?: readonly string[]
  readonly usage: 'server' | 'client'
  /** Host names and IP addresses. */
  readonly hosts?: readonly string[]
}

/** Creates a certificate authority, valid for ten years from `now`. */
export async function makeAuthority(commonName: string, now: Date): Promise<KeyPair> {
  const { publicKey, privateKey } = await makeKeys()
  const name = nameOf(commonName)
  return signed(privateKey, privateKey, {
    issuer: name,
    subject: name,
    validity: validity(now, authorityDays),
    publicKey,
    extensions: [
      extension(ids.basicConstraints, sequence(yes), 'critical'),
      extension(ids.keyUsage, keyUsages.authority, 'critical'),
      extension(ids.subjectKeyIdentifier, octets(keyIdentifier(publicKey))),
    ],
  })
}

/**
 * Creates a key and a certificate signed by `authority`, valid for a year from `now`. Rejects with an Error if the
 * authority's key is neither RSA nor ECDSA.
 */
export async function issueCertificate(authority: KeyPair, request: CertificateRequest, now: Date): Promise<KeyPair> {
  const { publicKey, privateKey } = await makeKeys()
  const issuer = issuerIn(authority.cert)
  return signed(createPrivateKey(authority.key), privateKey, {
    issuer: issuer.name,
    subject: nameOf(request.commonName, request.organizations),
    validity: validity(now, certificateDays),
    publicKey,
    extensions: [
      extension(ids.basicConstraints, sequence(), 'critical'),
      extension(ids.keyUsage, keyUsages.holder, 'critical'),
      extension(ids.extendedKeyUsage, sequence(oid(request.usage === 'server' ? ids.serverAuth : ids.clientAuth))),
      extension(ids.authorityKeyIdentifier, sequence(implicit(0, issuer.keyIdentifier))),
      ...(request.hosts?.length ? [alternativeNames(request.hosts)] : []),
    ],
  })
}

/** Returns a PKCS #10 request, PEM, that is signed by the private key, PEM. */
export function signingRequest(
  key: string,
  { commonName, organizations, hosts = [] }: Omit<CertificateRequest, 'usage'>,
): string {
  const signingKey = createPrivateKey(key)
  const attributes =
    hosts.length > 0 ? [sequence(oid(ids.extensionRequest), set(sequence(alternativeNames(hosts))))] : []
  const terms = sequence(
    positive(Buffer.from([0])),
    nameOf(commonName, organizations),
    spki(createPublicKey(signingKey)),
    explicit(0, ...attributes),
  )
  return pemOf('CERTIFICATE REQUEST', signedTerms(terms, signingKey))
}

const ids = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  rsaWithSha256: '1.2.840.113549.1.1.11',
  extensionRequest: '1.2.840.113549.1.9.14',
} as const

/** The bits of KeyUsage: digitalSignature is the first, keyCertSign and cRLSign are the sixth and seventh. */
const keyUsages = {
  authority: bits(Buffer.from([0b1000_0110]), 1),
  holder: bits(Buffer.from([0b1000_0000]), 7),
} as const

interface Terms {
  readonly issuer: Buffer
  readonly subject: Buffer
  readonly validity: Buffer
  readonly publicKey: KeyObject
  readonly extensions: readonly Buffer[]
}

const version3 = explicit(0, positive(Buffer.from([2])))

/** Returns the certificate for `key`, signed by `signingKey`. */
function signed(
  signingKey: KeyObject,
  key: KeyObject,
  { issuer, subject, validity, publicKey, extensions }: Terms,
): KeyPair {
  const terms = sequence(
    version3,
    serialNumber(),
    signatureAlgorithm(signingKey),
    issuer,
    validity,
    subject,
    spki(publicKey),
    explicit(3, sequence(...extensions)),
  )
  return {
    cert: pemOf('CERTIFICATE', signedTerms(terms, signingKey)),
    key: key.export({ format: 'pem', type: 'pkcs8' }).toString(),
  }
}

const signedTerms = (terms: Buffer, key: KeyObject): Buffer =>
  sequence(terms, signatureAlgorithm(key), bits(sign('sha256', terms, key)))

function pemOf(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}

const makeKeys = () => promisify(generateKeyPair)('ec', { namedCurve: 'P-256' })

/** Authorities of other tools may have RSA keys. */
function signatureAlgorithm({ asymmetricKeyType }: KeyObject): Buffer {
  if (asymmetricKeyType === 'ec') return sequence(oid(ids.ecdsaWithSha256))
  if (asymmetricKeyType === 'rsa') return sequence(oid(ids.rsaWithSha256), element(tags.null))
  throw new Error(`keys of authorities are RSA or ECDSA, not ${asymmetricKeyType}`)
}

/** Random, so that an authority does not reuse one; positive, without a leading zero. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16)
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0)
  return positive(bytes)
}

const attribute = (type: string, value: string): Buffer => set(sequence(oid(type), utf8(value)))

const nameOf = (commonName: string, organizations: readonly string[] = []): Buffer =>
  sequence(...organizations.map((name) => attribute(ids.organization, name)), attribute(ids.commonName, commonName))

const alternativeNames = (hosts: readonly string[]): Buffer =>
  extension(ids.subjectAlternativeName, sequence(...hosts.map(alternativeName)))

/** RFC 5280, 4.2.1.6. */
function alternativeName(host: string): Buffer {
  const family = isIP(host)
  if (!family) return implicit(2, Buffer.from(host))
  const digits = family === 4 ? 8 : 32
  return implicit(
    7,
    Buffer.from((parseCidr(`${host}/${digits * 4}`)?.base ?? 0n).toString(16).padStart(digits, '0'), 'hex'),
  )
}

const validity = (now: Date, days: number): Buffer =>
  sequence(time(new Date(now.getTime() - backdateMs)), time(new Date(now.getTime() + days * dayMs)))

const extension = (id: string, value: Buffer, critical?: 'critical'): Buffer =>
  sequence(oid(id), ...(critical ? [yes] : []), octets(value))

const spki = (key: KeyObject): Buffer => key.export({ format: 'der', type: 'spki' })

/** RFC 5280, 4.2.1.2: the hash of the key's bits, without the algorithm and the count of unused bits. */
function keyIdentifier(key: KeyObject): Buffer {
  const [, keyBits = Buffer.alloc(1)] = elementsOf(spki(key))
  return createHash('sha1').update(contentOf(keyBits).subarray(1)).digest()
}

/** Reads the name and key identifier of an authority as raw bytes, since clients compare them byte by byte. */
function issuerIn(cert: string): { readonly name: Buffer; readonly keyIdentifier: Buffer } {
  const { raw } = new X509Certificate(cert)
  const [terms = raw] = elementsOf(raw)
  // After the optional version: serial number, signature, issuer, validity, subject, key, and the extensions in [3].
  const [, , , , name = Buffer.alloc(0), key = Buffer.alloc(0), ...optional] = elementsOf(terms).filter(
    ([tag]) => tag !== 0xa0,
  )
  const extensions = optional
    .filter(([tag]) => tag === 0xa3)
    .flatMap((wrapped) => elementsOf(wrapped).flatMap(elementsOf))
  const subjectKeyId = extensions.map(elementsOf).find(([id]) => id?.equals(oid(ids.subjectKeyIdentifier)))
  const value = subjectKeyId?.at(-1)
  return {
    name,
    keyIdentifier: value
      ? contentOf(contentOf(value))
      : keyIdentifier(createPublicKey({ key, format: 'der', type: 'spki' })),
  }
}
