/** The TLS contexts of a listener: created when needed, and again when certificates or authorities have changed. */
import {
  createSecureContext,
  type SecureContext,
  type SecureContextOptions,
  type Server,
  type TlsOptions,
} from 'node:tls'
import { type Bundle, bundleText } from '../../certificates/signed-by.ts'
import { pairFor, pairsByName } from './named-pairs.ts'
import type { ServingPair, TransportOptions } from './transport.ts'

/** CAs that verify client certificates; `changed` is called when they have changed. */
export interface ClientAuthorities {
  readonly bundle: Bundle
  readonly changed?: () => void
}

/** They are not configurable, and without them in the list TLS 1.3 is off. */
const suitesOf13 = ['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256']

export class ServingContexts {
  readonly #pair: ServingPair
  readonly #transport: TransportOptions
  readonly #clientCA: ClientAuthorities | undefined
  readonly #byServer = new Map<string, SecureContext | undefined>()
  #state: readonly (string | Buffer)[]
  #trusted: string | undefined
  #pairs: ReadonlyMap<string, ServingPair>

  constructor(pair: ServingPair, transport: TransportOptions, clientCA: ClientAuthorities | undefined) {
    this.#pair = pair
    this.#transport = transport
    this.#clientCA = clientCA
    this.#state = this.#current()
    this.#trusted = clientCA && bundleText(clientCA.bundle)
    this.#pairs = pairsByName(transport.named ?? [])
  }

  /** The initial options of the server. */
  get options(): TlsOptions {
    const { named = [] } = this.#transport
    return {
      ...this.#contextOptions(this.#pair),
      ALPNProtocols: this.#transport.withoutHttp2 ? ['http/1.1'] : ['h2', 'http/1.1'],
      ...(this.#clientCA && { requestCert: true, rejectUnauthorized: false }),
      ...(named.length > 0 && { SNICallback: (server, done) => done(null, this.#contextOf(server)) }),
    }
  }

  /** Call before each handshake: changes take effect from the next connection on. */
  refresh(server: Server): void {
    const trusted = this.#clientCA && bundleText(this.#clientCA.bundle)
    const state = this.#current()
    const isOtherTrust = trusted !== this.#trusted
    if (!isOtherTrust && state.every((text, at) => text === this.#state[at])) return
    this.#trusted = trusted
    this.#state = state
    this.#pairs = pairsByName(this.#transport.named ?? [])
    this.#byServer.clear()
    server.setSecureContext(this.#contextOptions(this.#pair))
    if (isOtherTrust) this.#clientCA?.changed?.()
  }

  /** Certificates and keys, which may change without notice. */
  #current(): readonly (string | Buffer)[] {
    const { named = [] } = this.#transport
    return [this.#pair, ...named.map(({ pair }) => pair)].flatMap(({ cert, key }) => [cert, key])
  }

  #contextOf(server: string): SecureContext | undefined {
    const pair = pairFor(this.#pairs, server)
    if (!pair) return undefined
    // Keyed by the certificate, not by the requested name: clients may send any names.
    const key = String(pair.cert)
    let known = this.#byServer.get(key)
    if (!known) this.#byServer.set(key, (known = createSecureContext(this.#contextOptions(pair))))
    return known
  }

  #contextOptions({ cert, key }: ServingPair): SecureContextOptions {
    const { minVersion = 'TLSv1.2', ciphers } = this.#transport
    return {
      cert,
      key,
      minVersion,
      ...(ciphers && { ciphers: [...suitesOf13, ...ciphers].join(':') }),
      ...(this.#trusted !== undefined && { ca: this.#trusted }),
    }
  }
}
