/** What the listener's TLS is made of: its certificate, those for some names, and what may be spoken. */

/**
 * In PEM form; `cert` may be a chain. What has changed since it was last read counts from the next connection on, so
 * members may be getters.
 */
export interface ServingPair {
  readonly cert: string | Buffer
  readonly key: string | Buffer
}

/** A pair for some names only (`--tls-sni-cert-key`). */
export interface NamedPair {
  readonly pair: ServingPair
  /** `example.com`, `*.example.com`; without any, those that its certificate names. */
  readonly names: readonly string[]
}

export interface TransportOptions {
  readonly named?: readonly NamedPair[]
  /** TLS 1.2 unless said. */
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3'
  /** Suites of TLS 1.2, as OpenSSL names them; Node's unless said. */
  readonly ciphers?: readonly string[]
  /** HTTP/1.1 alone. */
  readonly withoutHttp2?: boolean
}
