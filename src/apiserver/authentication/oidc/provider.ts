/**
 * An OpenID provider (OpenID Connect Discovery 1.0): its discovery document and its keys. It may be unreachable when
 * the server starts.
 */
import { Agent } from 'node:https'
import { goQuote } from '../../../lib/go/go-quote.ts'
import { isObject } from '../../../machinery/fields/json.ts'
import { type JsonWebToken, textOf } from '../service-accounts/json-web-token.ts'
import { httpsGet } from './https-get.ts'
import { KeySet } from './key-set.ts'

export interface ProviderOptions {
  readonly issuer: string
  /** The URL of the discovery document. Default: below the issuer. */
  readonly discoveryUrl?: string
  /** PEM. Default: the system's CAs. */
  readonly ca?: string
  readonly audiences: readonly string[]
  /** The accepted signing algorithms: `RS256`, … */
  readonly algorithms: readonly string[]
  readonly log: (line: string) => void
  /** Called after each fetch of the keys; `text` is undefined after a failure. */
  readonly fetched?: (text: string | undefined) => void
  /** The delay in ms before an unreachable provider is retried. Default: 10,000. */
  readonly retryMs?: number
  /** Ms since 1970. */
  readonly now?: () => number
}

const defaultRetryMs = 10_000
const timeoutMs = 30_000
const maxDocumentBytes = 64 * 1024
const maxKeySetBytes = 1024 * 1024
/** The accepted clock difference of token issuers, in ms. */
const notBeforeLeewayMs = 60_000
const wellKnown = '/.well-known/openid-configuration'

export class OpenIdProvider {
  readonly #options: ProviderOptions
  readonly #agent: Agent
  #keys: KeySet | undefined
  #health: string | undefined
  #retry: NodeJS.Timeout | undefined
  #first: Promise<void> | undefined
  #isStopped = false

  constructor(options: ProviderOptions) {
    this.#options = options
    this.#agent = new Agent({ keepAlive: false, maxSockets: 4, ...(options.ca && { ca: options.ca }) })
    this.#health = `oidc: authenticator for issuer ${goQuote(options.issuer)} is not initialized`
  }

  /** The reason why it is not ready; undefined if it is. */
  get health(): string | undefined {
    return this.#health
  }

  get isReady(): boolean {
    return this.#keys !== undefined
  }

  /** Fetches the discovery document, with retries. Resolves after the first attempt; never rejects. */
  start(): Promise<void> {
    return (this.#first ??= this.#discover())
  }

  /** Call when another provider replaces it: stops retries. Pending tokens are still verified. */
  retire(): void {
    this.#isStopped = true
    clearTimeout(this.#retry)
  }

  stop(): void {
    this.retire()
    this.#agent.destroy()
  }

  /** Fetches a related document from another URL, such as a distributed claim. */
  get(url: string, authorization?: string): Promise<string> {
    return httpsGet(url, {
      agent: this.#agent,
      timeoutMs,
      maxBytes: maxDocumentBytes,
      ...(authorization && { authorization }),
    })
  }

  /**
   * Returns the reason, in go-oidc's words, why the token is invalid for these audiences; undefined if it is valid.
   */
  async fault(token: JsonWebToken): Promise<string | undefined> {
    const { issuer, audiences, algorithms, now = Date.now } = this.#options
    const { aud } = token.claims
    const sourceError = sourceFault(token.claims)
    if (sourceError) return sourceError
    const tokenAudiences = typeof aud === 'string' ? [aud] : Array.isArray(aud) ? aud.map(textOf) : []
    if (issuerOf(token.claims) !== issuer)
      return (
        `oidc: id token issued by a different provider, expected ${goQuote(issuer)} got ` +
        `${goQuote(textOf(token.claims.iss))}`
      )
    const matchesAudience = audiences.some((audience) => tokenAudiences.includes(audience))
    if (audiences.length === 1 && !matchesAudience)
      return `oidc: expected audience ${goQuote(audiences[0]!)} got ${goList(tokenAudiences)}`
    const late = timeFault(token.claims, now())
    if (late) return late
    if (!algorithms.includes(token.algorithm))
      return (
        `oidc: id token signed with unsupported algorithm, expected ${goList(algorithms)} got ` +
        `${goQuote(token.algorithm)}`
      )
    if (!this.#keys) return 'oidc: authenticator not initialized'
    const signature = await this.#keys.fault(token)
    if (signature) return `failed to verify signature: ${signature}`
    return matchesAudience
      ? undefined
      : `oidc: expected audience in ${goList([...audiences].sort())} got ${goList(tokenAudiences)}`
  }

  async #discover(): Promise<void> {
    const { issuer, log, retryMs = defaultRetryMs } = this.#options
    try {
      const uri = await this.#keySetAddress()
      if (this.#isStopped) return
      this.#keys = new KeySet(() => this.#readKeys(uri))
      this.#health = undefined
    } catch (error) {
      if (this.#isStopped) return
      const reason = error instanceof Error ? error.message : String(error)
      this.#health = `oidc: authenticator for issuer ${goQuote(issuer)} is not healthy: ${reason}`
      log(`oidc authenticator: initializing plugin: ${reason}`)
      this.#retry = setTimeout(() => this.#discover(), retryMs).unref()
    }
  }

  async #keySetAddress(): Promise<string> {
    const { issuer, discoveryUrl } = this.#options
    const text = await this.get(discoveryUrl ?? issuer.replace(/\/$/, '') + wellKnown)
    const document = discoveryDocument(text)
    if (document.issuer !== issuer)
      throw new Error(
        `oidc: issuer did not match the issuer returned by provider, expected ${goQuote(issuer)} got ` +
          `${goQuote(textOf(document.issuer))}`,
      )
    const uri = textOf(document.jwks_uri)
    if (!URL.canParse(uri))
      throw new Error(`oidc: the provider's discovery document has no jwks_uri that is a URL, but ${goQuote(uri)}`)
    return uri
  }

  async #readKeys(uri: string): Promise<string> {
    const { fetched } = this.#options
    try {
      const text = await httpsGet(uri, { agent: this.#agent, timeoutMs, maxBytes: maxKeySetBytes })
      fetched?.(text)
      return text
    } catch (error) {
      fetched?.(undefined)
      throw error
    }
  }
}

function discoveryDocument(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
    throw new Error('it is no object')
  } catch (error) {
    throw new Error(
      `oidc: failed to decode provider discovery object: ${error instanceof Error ? error.message : error}`,
    )
  }
}

/** Google once used an issuer without a scheme (OpenID Connect Core 1.0, section 15.6.2). */
export function issuerOf(claims: JsonWebToken['claims']): string {
  const issuer = textOf(claims.iss)
  return issuer === 'accounts.google.com' ? 'https://accounts.google.com' : issuer
}

/** Distributed claims must name an existing source, even if they are not used. */
function sourceFault({ _claim_names: names, _claim_sources: sources }: JsonWebToken['claims']): string | undefined {
  if (!isObject(names)) return undefined
  for (const name of Object.values(names)) {
    if (!name) return 'oidc: failed to obtain source from claim name'
    if (!isObject(sources) || !Object.hasOwn(sources, String(name))) return 'oidc: source does not exist'
  }
  return undefined
}

function timeFault({ exp, nbf }: JsonWebToken['claims'], nowMs: number): string | undefined {
  const endMs = typeof exp === 'number' ? exp * 1000 : 0
  if (!(endMs >= nowMs)) return `oidc: token is expired (Token Expiry: ${goTime(endMs)})`
  if (nbf === undefined || nbf === null) return undefined
  const beginMs = typeof nbf === 'number' ? nbf * 1000 : Number.POSITIVE_INFINITY
  return beginMs > nowMs + notBeforeLeewayMs
    ? `oidc: current time ${goTime(nowMs)} before the nbf (not before) time: ${goTime(beginMs)}`
    : undefined
}

/** Formats a time as Go does in UTC: `2024-01-31 12:00:00 +0000 UTC`. */
function goTime(ms: number): string {
  const time = new Date(ms)
  return Number.isNaN(time.getTime()) ? 'never' : `${time.toISOString().slice(0, 19).replace('T', ' ')} +0000 UTC`
}

/** Formats a list as Go does: `["a" "b"]`. */
const goList = (texts: readonly string[]): string => `[${texts.map(goQuote).join(' ')}]`
