/**
 * The user's own keys of service account tokens (`--service-account-signing-key-file`, `--service-account-key-file`).
 */
import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'

/** The default issuer of tokens. */
export const defaultIssuer = 'https://kubernetes.default.svc.cluster.local'

/** Reads a private key. Throws an ExplainedError that names the file and the flag. */
export function readSigningKey(file: string, flag = '--service-account-signing-key-file'): KeyObject {
  const text = read(file, flag)
  try {
    return createPrivateKey(text)
  } catch (error) {
    throw new ExplainedError(`${file} holds no private key in PEM form: check ${flag}`, { cause: error })
  }
}

/**
 * Reads all public keys of files with public keys, private keys or certificates. Throws an ExplainedError that names
 * the file and the flag.
 */
export const readVerificationKeys = (files: readonly string[]): KeyObject[] => files.flatMap(keysOf)

function keysOf(file: string): KeyObject[] {
  const blocks =
    read(file, '--service-account-key-file').match(/-----BEGIN ([A-Z0-9 ]+)-----[^-]+-----END \1-----/g) ?? []
  // The curve of a key is in a block of its own, which is not a key.
  const keys = blocks.filter((block) => !block.startsWith('-----BEGIN EC PARAMETERS'))
  if (keys.length === 0) throw noKey(file)
  try {
    return keys.map((pem) =>
      pem.startsWith('-----BEGIN CERTIFICATE') ? new X509Certificate(pem).publicKey : createPublicKey(pem),
    )
  } catch (error) {
    throw noKey(file, error)
  }
}

const noKey = (file: string, cause?: unknown): ExplainedError =>
  new ExplainedError(`${file} holds no public key in PEM form: check --service-account-key-file`, { cause })

function read(file: string, flag: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ExplainedError(`cannot read ${file}: ${reasonOf(error)}; check ${flag}`, { cause: error })
  }
}
