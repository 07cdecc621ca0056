/**
 * The user's own identity files (`--tls-cert-file`, `--client-ca-file`, …), read and verified before the server
 * starts.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { PasswordUser } from '../../apiserver/authentication/passwords.ts'
import type { TokenUser } from '../../apiserver/authentication/tokens/static-tokens.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { fileValue } from '../../lib/files/file-value.ts'
import type { KeyPair } from '../pki/key-pair.ts'
import { parsePasswords, parseTokens } from './token-auth-file.ts'

/** Paths from the flags of the same names. */
export interface IdentityFiles {
  readonly tokenAuthFile?: string
  readonly basicAuthFile?: string
  readonly clientCaFile?: string
  readonly tlsCertFile?: string
  readonly tlsPrivateKeyFile?: string
}

/** Their content, for `startCluster`. */
export interface Identity {
  readonly tokens?: readonly TokenUser[]
  readonly passwords?: readonly PasswordUser[]
  readonly clientCA?: string
  readonly tls?: KeyPair
}

/**
 * Reads the given files. The key pair is reloaded when its files change, which `log` reports. Throws an ExplainedError
 * that names the file and the flag.
 */
export function readIdentity(
  { tokenAuthFile, basicAuthFile, clientCaFile, tlsCertFile, tlsPrivateKeyFile }: IdentityFiles,
  log: (line: string) => void = () => {},
): Identity {
  if (!tlsCertFile !== !tlsPrivateKeyFile)
    throw new ExplainedError('--tls-cert-file and --tls-private-key-file go together: give both or neither')
  return {
    tokens: tokenAuthFile ? parseTokens(readText(tokenAuthFile, '--token-auth-file'), tokenAuthFile) : undefined,
    passwords: basicAuthFile ? parsePasswords(readText(basicAuthFile, '--basic-auth-file'), basicAuthFile) : undefined,
    clientCA: clientCaFile ? readAuthorities(clientCaFile, '--client-ca-file') : undefined,
    tls:
      tlsCertFile && tlsPrivateKeyFile ? followKeyPair(tlsCertFile, tlsPrivateKeyFile, servingFlags, log) : undefined,
  }
}

/** The flags that name the files of a pair. */
export interface PairFlags {
  readonly cert: string
  readonly key: string
}

const servingFlags: PairFlags = { cert: '--tls-cert-file', key: '--tls-private-key-file' }

/** Returns a pair that is reloaded when its files change; an invalid new pair is ignored. Read `cert` before `key`. */
export function followKeyPair(
  certFile: string,
  keyFile: string,
  flags: PairFlags,
  log: (line: string) => void,
): KeyPair {
  const current = fileValue({
    paths: [certFile, keyFile],
    read: () => readKeyPair(certFile, keyFile, flags, new Date()),
    log,
  })
  let pair = current()
  return {
    get cert() {
      pair = current()
      return pair.cert
    },
    // From the same load as `cert`, so that the halves match.
    get key() {
      return pair.key
    },
  }
}

/** Reads a certificate (or chain) and its key. Checks that they match and are valid at `now`. */
export function readKeyPair(certFile: string, keyFile: string, flags: PairFlags, now: Date): KeyPair {
  const cert = readText(certFile, flags.cert)
  const key = readText(keyFile, flags.key)
  const certificate = parseCertificate(cert, certFile, flags.cert)
  if (now > certificate.validToDate) {
    throw new ExplainedError(
      `the certificate in ${certFile} expired on ${certificate.validToDate.toISOString()}: renew it, or leave ` +
        `out ${flags.cert} to have one generated`,
    )
  }
  if (now < certificate.validFromDate) {
    throw new ExplainedError(
      `the certificate in ${certFile} is valid only from ${certificate.validFromDate.toISOString()}: check the ` +
        `clock or give another ${flags.cert}`,
    )
  }
  if (!certificate.checkPrivateKey(parseKey(key, keyFile, flags.key))) {
    throw new ExplainedError(
      `the key in ${keyFile} does not belong to the certificate in ${certFile}: give the matching pair`,
    )
  }
  return { cert, key }
}

/** Reads a bundle of authorities whose client certificates are accepted. */
export function readAuthorities(file: string, flag: string): string {
  const bundle = readText(file, flag)
  const certificates = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  if (certificates.length === 0) throw notACertificate(file, flag)
  for (const certificate of certificates) parseCertificate(certificate, file, flag)
  return bundle
}

/** Reads a file named by `flag`. */
function readText(file: string, flag: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ExplainedError(`cannot read ${file}: ${reasonOf(error)}; check ${flag}`, { cause: error })
  }
}

const notACertificate = (file: string, flag: string, cause?: unknown): ExplainedError =>
  new ExplainedError(`${file} holds no certificate in PEM form: check ${flag}`, { cause })

function parseCertificate(pem: string, file: string, flag: string): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch (error) {
    throw notACertificate(file, flag, error)
  }
}

function parseKey(pem: string, file: string, flag: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch (error) {
    throw new ExplainedError(`${file} holds no private key in PEM form without a passphrase: check ${flag}`, {
      cause: error,
    })
  }
}
