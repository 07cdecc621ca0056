/** TLS options of the listener: its certificate, those for specific names, and the allowed protocols. */

/**
 * In PEM form; `cert` may be a chain. Read again before each connection, so members may be getters that return new
 * values.
 */
export interface ServingPair {
  readonly cert: string | Buffer
  readonly key: string | Buffer
}

/** A pair for specific names (`--tls-sni-cert-key`). */
export interface NamedPair {
  readonly pair: ServingPair
  /** `example.com`, `*.example.com`; if empty, the names in its certificate. */
  readonly names: readonly string[]
}

export interface TransportOptions {
  readonly named?: readonly NamedPair[]
  /** Default: TLS 1.2. */
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3'
  /** Cipher suites of TLS 1.2, as OpenSSL names them. Default: Node's. */
  readonly ciphers?: readonly string[]
  /** HTTP/1.1 only. */
  readonly withoutHttp2?: boolean
}
