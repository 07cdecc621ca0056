/** Certificates by the name that a client requests (SNI). They may change at any time. */
import { createSecureContext, type SecureContext } from 'node:tls'
import type { KeyPair } from '../../../lib/x509/key-pair.ts'
import { anyHost, patternsFor } from '../picture/hosts.ts'

export class Certificates {
  readonly #fallback: KeyPair
  #pairs: ReadonlyMap<string, KeyPair> = new Map()
  /** Contexts by certificate and key: equal pairs of several hosts share one. */
  #contexts = new Map<string, SecureContext>()
  #defaultPair: KeyPair
  #notify: (pair: KeyPair) => void = () => {}

  /** `fallback` is for names without a certificate. */
  constructor(fallback: KeyPair) {
    this.#fallback = fallback
    this.#defaultPair = fallback
  }

  /** Replaces the certificates, which are by pattern of host. They must be valid pairs. */
  set(pairs: ReadonlyMap<string, KeyPair>): void {
    this.#pairs = pairs
    const used = new Set([...pairs.values(), this.#fallback].map(keyOfPair))
    for (const key of this.#contexts.keys()) if (!used.has(key)) this.#contexts.delete(key)
    const pair = pairs.get(anyHost) ?? this.#fallback
    if (keyOfPair(pair) === keyOfPair(this.#defaultPair)) return
    this.#defaultPair = pair
    this.#notify(pair)
  }

  /** The certificate for clients that request no name. */
  get defaultPair(): KeyPair {
    return this.#defaultPair
  }

  /** Calls `notify` with the certificate for clients that request no name, when it changes. */
  onDefaultChange(notify: (pair: KeyPair) => void): void {
    this.#notify = notify
  }

  /** Returns the certificate for a name: that of the most specific host, or the default one. */
  contextFor(name: string): SecureContext {
    const host = name.toLowerCase()
    for (const patterns of patternsFor(host))
      for (const pattern of patterns) {
        const pair = this.#pairs.get(pattern)
        if (pair) return this.#contextOf(pair)
      }
    return this.#contextOf(this.#fallback)
  }

  #contextOf(pair: KeyPair): SecureContext {
    const key = keyOfPair(pair)
    const known = this.#contexts.get(key)
    if (known) return known
    const context = createSecureContext({ cert: pair.cert, key: pair.key, minVersion: 'TLSv1.2' })
    this.#contexts.set(key, context)
    return context
  }
}

const keyOfPair = ({ cert, key }: KeyPair): string => cert + key
