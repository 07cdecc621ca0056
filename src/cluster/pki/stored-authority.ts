/**
 * Authorities and the key of service account tokens in a directory. Certificates and tokens depend on them, so a
 * damaged or missing one is never replaced: the start fails with the remedy.
 */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, X509Certificate } from 'node:crypto'
import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ExplainedError, errorCode, reasonOf } from '../../lib/explained-error.ts'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { makeAuthority } from '../../lib/x509/certificates.ts'
import type { KeyPair } from './key-pair.ts'

/** An authority and the certificates that it signs. */
export interface AuthorityPlan {
  /** Name of its files, without `.crt` and `.key`. */
  readonly name: string
  readonly commonName: string
  /** Names of the files that it signs. */
  readonly signs: readonly string[]
}

/** Time before expiry in ms from which a warning is logged. */
const warnBeforeMs = 90 * 24 * 3600 * 1000
const accountKeyBits = 2048

/**
 * Reads the authority, or creates it if the directory has none of its files. Throws an ExplainedError if it is
 * unusable.
 */
export async function storedAuthority(
  directory: string,
  plan: AuthorityPlan,
  now: Date,
): Promise<{ readonly pair: KeyPair; readonly isNew: boolean }> {
  const { name, commonName, signs } = plan
  const refuse = (fault: string, cause?: unknown): ExplainedError => unusableAuthority(directory, plan, fault, cause)
  const [certFile, keyFile] = [`${name}.crt`, `${name}.key`]
  const cert = readIfExists(directory, certFile, refuse)
  const key = readIfExists(directory, keyFile, refuse)
  if (cert !== undefined && key !== undefined) {
    const fault = faultOf({ cert, key }, certFile, keyFile, now)
    if (fault) throw refuse(fault)
    return { pair: { cert, key }, isNew: false }
  }
  if (cert !== undefined) throw refuse(`${certFile} exists, but ${keyFile} is missing`)
  if (key !== undefined) throw refuse(`${keyFile} exists, but ${certFile} is missing`)
  const signed = signs.map((other) => `${other}.crt`).find((file) => exists(join(directory, file)))
  if (signed) throw refuse(`${certFile} and ${keyFile} are missing, but ${signed} was signed by them`)
  const pair = await makeAuthority(commonName, now)
  writeFileAtomically(join(directory, keyFile), pair.key, 0o600)
  writeFileAtomically(join(directory, certFile), pair.cert, 0o644)
  return { pair, isNew: true }
}

/** Returns a warning if an authority expires soon. */
export function expiryWarning(
  directory: string,
  { name }: AuthorityPlan,
  { cert }: KeyPair,
  now: Date,
): string | undefined {
  const { validToDate } = new X509Certificate(cert)
  if (now.getTime() < validToDate.getTime() - warnBeforeMs) return undefined
  return (
    `the authority in ${join(directory, `${name}.crt`)} expires on ${validToDate.toISOString()}: from then on ` +
    'the cluster cannot start with it'
  )
}

function faultOf({ cert, key }: KeyPair, certFile: string, keyFile: string, now: Date): string | undefined {
  const certificate = parsed(() => new X509Certificate(cert))
  if (!certificate) return `${certFile} is damaged: it holds no certificate in PEM form`
  const privateKey = parsed(() => createPrivateKey(key))
  if (!privateKey) return `${keyFile} is damaged: it holds no private key in PEM form`
  if (!certificate.checkPrivateKey(privateKey)) return `${keyFile} does not belong to ${certFile}`
  if (!certificate.ca) return `${certFile} is not the certificate of an authority`
  if (!parsed(() => certificate.verify(certificate.publicKey))) return `${certFile} is damaged: its signature is wrong`
  if (now > certificate.validToDate) return `${certFile} expired on ${certificate.validToDate.toISOString()}`
  if (now < certificate.validFromDate)
    return `${certFile} is valid only from ${certificate.validFromDate.toISOString()}; check the clock`
  return undefined
}

function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse()
  } catch {
    return undefined
  }
}

function unusableAuthority(
  directory: string,
  { name, signs }: AuthorityPlan,
  fault: string,
  cause?: unknown,
): ExplainedError {
  const files = [name, ...signs].map((file) => join(directory, `${file}.crt`))
  return new ExplainedError(
    `the authority in ${directory} cannot be used: ${fault}; nothing was changed. Restore ${name}.crt and ` +
      `${name}.key from a copy. ` +
      'To create a new authority, which invalidates every certificate and kubeconfig signed by this one, ' +
      `remove ${[...files, join(directory, `${name}.key`)].join(' ')} and restart`,
    { cause },
  )
}

/**
 * Reads the key of service account tokens, or creates it if there was none. Throws an ExplainedError if it is damaged
 * or lost.
 */
export async function storedServiceAccountKey(directory: string): Promise<KeyObject> {
  const present = readServiceAccountKey(directory)
  if (present) return present
  const key = await makeServiceAccountKey()
  writeFileAtomically(join(directory, accountFiles.key), key.export({ format: 'pem', type: 'pkcs8' }), 0o600)
  writePublicKey(directory, key)
  return key
}

export async function makeServiceAccountKey(): Promise<KeyObject> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: accountKeyBits })
  return privateKey
}

/** kubeadm's names. The public key shows that a missing private key was lost. */
const accountFiles = { key: 'sa.key', public: 'sa.pub' } as const

/** Reads the key; undefined if none was created. Throws like `storedServiceAccountKey`. */
export function readServiceAccountKey(directory: string): KeyObject | undefined {
  const refuse = (fault: string, cause?: unknown): ExplainedError => unusableKey(directory, fault, cause)
  const text = readIfExists(directory, accountFiles.key, refuse)
  const publicText = readIfExists(directory, accountFiles.public, refuse)
  if (text === undefined) {
    if (publicText !== undefined) throw refuse(`${accountFiles.public} exists, but ${accountFiles.key} is missing`)
    return undefined
  }
  const key = parsed(() => createPrivateKey(text))
  if (!key) throw refuse(`${accountFiles.key} is damaged: it holds no private key in PEM form`)
  if (publicText === undefined) writePublicKey(directory, key)
  else if (!parsed(() => createPublicKey(publicText).equals(createPublicKey(key))))
    throw refuse(`${accountFiles.key} does not belong to ${accountFiles.public}`)
  return key
}

function writePublicKey(directory: string, key: KeyObject): void {
  writeFileAtomically(
    join(directory, accountFiles.public),
    createPublicKey(key).export({ format: 'pem', type: 'spki' }),
    0o644,
  )
}

const unusableKey = (directory: string, fault: string, cause?: unknown): ExplainedError =>
  new ExplainedError(
    `the key of service account tokens in ${directory} cannot be used: ${fault}; nothing was changed. Restore ` +
      `${accountFiles.key} from a copy. ` +
      'To create a new key, which invalidates every service account token, remove ' +
      `${join(directory, accountFiles.key)} ${join(directory, accountFiles.public)} and restart`,
    { cause },
  )

/** Reads a file; undefined if it does not exist. Throws if it exists but cannot be read. */
function readIfExists(
  directory: string,
  file: string,
  refuse: (fault: string, cause: unknown) => ExplainedError,
): string | undefined {
  const path = join(directory, file)
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT' && !exists(path)) return undefined
    throw refuse(`${file} cannot be read (${reasonOf(error)})`, error)
  }
}

/** Also true for a dangling link. */
function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
