/** A certificate with its private key. */

/** Both in PEM form; `cert` may be a chain that begins with the certificate itself. */
export interface KeyPair {
  readonly cert: string
  readonly key: string
}
