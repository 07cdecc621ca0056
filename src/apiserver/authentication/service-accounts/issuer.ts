/** Who issues service account tokens: names, keys and rules, as `--service-account-…` say. */
import type { KeyObject } from 'node:crypto'
import type { VerificationKey } from './signing-keys.ts'
import { verificationKey } from './signing-keys.ts'

export interface ServiceAccountIssuer {
  /** The `iss` that tokens may have: `https://kubernetes.default.svc.cluster.local`. New ones get the first. */
  readonly issuers: readonly string[]
  /** The private key that signs tokens: RSA, or ECDSA on a NIST curve; made when first needed. */
  readonly signingKey: () => Promise<KeyObject>
  /**
   * What tokens are verified with (`--service-account-key-file`), as the files say now; the public half of the signing
   * key unless said.
   */
  readonly verificationKeys?: () => readonly KeyObject[]
  /** Where the public keys are found (`--service-account-jwks-uri`); here unless said. */
  readonly jwksUri?: string
  /** How many seconds tokens may live at most; no limit unless said. */
  readonly maxExpirationSeconds?: number
  /**
   * Whether tokens of pods that ask for the usual hour live for a year, as clients of old never read them again; true
   * unless said.
   */
  readonly extendsExpiration?: boolean
  /** Whether the secret of a token that lives in one must be there; true unless said. */
  readonly looksUp?: boolean
}

/** The keys that tokens are verified with. The same array as long as they are the same. */
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
