/**
 * Authorities and the key of service account tokens in a directory. Certificates and tokens elsewhere depend on them,
 * so one that is damaged or missing is never replaced: the start is refused with what to do.
 */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, X509Certificate } from 'node:crypto'
import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ExplainedError, errorCode, reasonOf } from '../../lib/explained-error.ts'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { makeAuthority } from './certificates.ts'
import type { KeyPair } from './key-pair.ts'

/** An authority and what it signs. */
export interface AuthorityPlan {
  /** Of its files, without `.crt` and `.key`. */
  readonly name: string
  readonly commonName: string
  /** Files that it signs, named likewise. */
  readonly signs: readonly string[]
}

/** A time before the end of an authority at which a warning is due. Milliseconds. */
const warnBeforeMs = 90 * 24 * 3600 * 1000
const accountKeyBits = 2048

/**
 * Reads the authority, or makes one in a directory that has nothing of it. Throws an ExplainedError for one that cannot
 * be used.
 */
export async function keptAuthority(
  directory: string,
  plan: AuthorityPlan,
  now: Date,
): Promise<{ readonly pair: KeyPair; readonly isNew: boolean }> {
  const { name, commonName, signs } = plan
  const refuse = (fault: string, cause?: unknown): ExplainedError => refusedAuthority(directory, plan, fault, cause)
  const [certFile, keyFile] = [`${name}.crt`, `${name}.key`]
  const cert = readIfThere(directory, certFile, refuse)
  const key = readIfThere(directory, keyFile, refuse)
  if (cert !== undefined && key !== undefined) {
    const fault = faultOf({ cert, key }, certFile, keyFile, now)
    if (fault) throw refuse(fault)
    return { pair: { cert, key }, isNew: false }
  }
  if (cert !== undefined) throw refuse(`${certFile} is there, but ${keyFile} is missing`)
  if (key !== undefined) throw refuse(`${keyFile} is there, but ${certFile} is missing`)
  const signed = signs.map((other) => `${other}.crt`).find((file) => isThere(join(directory, file)))
  if (signed) throw refuse(`${certFile} and ${keyFile} are missing, but ${signed} was signed by them`)
  const pair = await makeAuthority(commonName, now)
  writeFileAtomically(join(directory, keyFile), pair.key, 0o600)
  writeFileAtomically(join(directory, certFile), pair.cert, 0o644)
  return { pair, isNew: true }
}

/** A line about an authority that ends soon; undefined for others. */
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
    'the cluster does not start with it'
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

function refusedAuthority(
  directory: string,
  { name, signs }: AuthorityPlan,
  fault: string,
  cause?: unknown,
): ExplainedError {
  const files = [name, ...signs].map((file) => join(directory, `${file}.crt`))
  return new ExplainedError(
    `the authority in ${directory} cannot be used: ${fault}; nothing was changed. Restore ${name}.crt and ` +
      `${name}.key from a copy. ` +
      'To make a new authority on purpose, which ends every certificate and kubeconfig that this one signed, ' +
      `remove ${[...files, join(directory, `${name}.key`)].join(' ')} and start again`,
    { cause },
  )
}

/**
 * The key of service account tokens, made where there has been none. Throws an ExplainedError for one that is damaged
 * or lost.
 */
export async function keptServiceAccountKey(directory: string): Promise<KeyObject> {
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

/** kubeadm's names. The public key is there to notice that the private one has gone. */
const accountFiles = { key: 'sa.key', public: 'sa.pub' } as const

/** The key that is there; undefined where none has been made. Throws as `keptServiceAccountKey`. */
export function readServiceAccountKey(directory: string): KeyObject | undefined {
  const refuse = (fault: string, cause?: unknown): ExplainedError => refusedKey(directory, fault, cause)
  const text = readIfThere(directory, accountFiles.key, refuse)
  const publicText = readIfThere(directory, accountFiles.public, refuse)
  if (text === undefined) {
    if (publicText !== undefined) throw refuse(`${accountFiles.public} is there, but ${accountFiles.key} is missing`)
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

const refusedKey = (directory: string, fault: string, cause?: unknown): ExplainedError =>
  new ExplainedError(
    `the key of service account tokens in ${directory} cannot be used: ${fault}; nothing was changed. Restore ` +
      `${accountFiles.key} from a copy. ` +
      'To make a new key on purpose, which ends every token of a service account, remove ' +
      `${join(directory, accountFiles.key)} ${join(directory, accountFiles.public)} and start again`,
    { cause },
  )

/** The text of a file; undefined where there is none. A file that is there and cannot be read is refused. */
function readIfThere(
  directory: string,
  file: string,
  refuse: (fault: string, cause: unknown) => ExplainedError,
): string | undefined {
  const path = join(directory, file)
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT' && !isThere(path)) return undefined
    throw refuse(`${file} cannot be read (${reasonOf(error)})`, error)
  }
}

/** True also for a link that leads nowhere. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
