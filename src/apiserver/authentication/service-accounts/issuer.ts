/** The issuer of service account tokens, as configured by `--service-account-…`. */
import type { KeyObject } from 'node:crypto'
import type { VerificationKey } from './signing-keys.ts'
import { verificationKey } from './signing-keys.ts'

export interface ServiceAccountIssuer {
  /** The accepted `iss`, such as `https://kubernetes.default.svc.cluster.local`. New tokens have the first. */
  readonly issuers: readonly string[]
  /** The private key that signs tokens: RSA, or ECDSA on a NIST curve. Generated on first use. */
  readonly signingKey: () => Promise<KeyObject>
  /**
   * The keys that verify tokens (`--service-account-key-file`), as in the files now. Default: the public key of the
   * signing key.
   */
  readonly verificationKeys?: () => readonly KeyObject[]
  /** The URL of the public keys (`--service-account-jwks-uri`). Default: this server. */
  readonly jwksUri?: string
  /** The maximum lifetime of tokens in seconds. Default: no limit. */
  readonly maxExpirationSeconds?: number
  /**
   * Extends tokens of pods that request the default hour to a year, for clients that read their token only once.
   * Default: true.
   */
  readonly extendsExpiration?: boolean
  /** Requires that the Secret of a legacy token exists. Default: true. */
  readonly requiresSecret?: boolean
}

/** The keys that verify tokens. Returns the same array until they change. */
export function verificationKeysOf({
  signingKey,
  verificationKeys,
}: ServiceAccountIssuer): () => readonly VerificationKey[] | Promise<readonly VerificationKey[]> {
  let own: readonly VerificationKey[] | undefined
  let from: readonly KeyObject[] | undefined
  return () => {
    if (!verificationKeys) return own ?? signingKey().then((key) => (own ??= [verificationKey(key)]))
    const keys = verificationKeys()
    if (!own || from !== keys) {
      from = keys
      own = keys.map(verificationKey)
    }
    return own
  }
}
