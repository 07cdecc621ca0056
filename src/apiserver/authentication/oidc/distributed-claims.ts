/**
 * Distributed claims (OpenID Connect Core 1.0, section 5.6.2): a token names an endpoint that returns the groups in a
 * token of its own.
 */
import { goQuote } from '../../../lib/go/go-quote.ts'
import { isObject } from '../../../machinery/fields/json.ts'
import { parseToken, textOf } from '../service-accounts/json-web-token.ts'
import { ClaimError, type Claims } from './claim-mapper.ts'
import { issuerOf, type OpenIdProvider } from './provider.ts'

/** The maximum number of issuers of distributed claims in memory. */
const maxIssuers = 16

export class DistributedClaims {
  readonly #claim: string
  readonly #own: OpenIdProvider
  readonly #providerOf: (issuer: string) => OpenIdProvider
  readonly #others = new Map<string, OpenIdProvider>()

  /**
   * `own` is the provider of the tokens that name endpoints; `providerOf` creates a provider for the issuer of the
   * returned token.
   */
  constructor(claim: string, own: OpenIdProvider, providerOf: (issuer: string) => OpenIdProvider) {
    this.#claim = claim
    this.#own = own
    this.#providerOf = providerOf
  }

  retire(): void {
    for (const provider of this.#others.values()) provider.retire()
  }

  stop(): void {
    for (const provider of this.#others.values()) provider.stop()
  }

  /**
   * Returns the claims with the distributed claim resolved, if there is one. Rejects with a ClaimError if that fails.
   */
  async expanded(claims: Claims): Promise<Claims> {
    const claim = this.#claim
    const source = sourceOf(claims, claim)
    if (!source) return claims
    const { endpoint, accessToken } = source
    const text = await this.#own.get(endpoint, accessToken && `Bearer ${accessToken}`).catch((error) => {
      throw wrong(
        `while getting distributed claim ${goQuote(claim)}: ${error instanceof Error ? error.message : error}`,
      )
    })
    const token = parseToken(text.trim())
    if (!token)
      throw wrong(
        `getting untrusted issuer from endpoint ${endpoint} failed for claim ${goQuote(claim)}: malformed token`,
      )
    const issuer = issuerOf(token.claims)
    const provider = await this.#provider(issuer)
    const fault = await provider.fault(token)
    if (fault) throw wrong(`verify distributed claim token: ${fault}`)
    if (!Object.hasOwn(token.claims, claim))
      throw wrong(`jwt returned by distributed claim endpoint ${goQuote(endpoint)} did not contain claim: ${claim}`)
    return { ...claims, [claim]: token.claims[claim] }
  }

  async #provider(issuer: string): Promise<OpenIdProvider> {
    let provider = this.#others.get(issuer)
    if (!provider) {
      if (this.#others.size >= maxIssuers || URL.parse(issuer)?.protocol !== 'https:')
        throw wrong(`verifying untrusted issuer ${issuer} failed`)
      provider = this.#providerOf(issuer)
      this.#others.set(issuer, provider)
    }
    await provider.start()
    if (!provider.isReady)
      throw wrong(
        `verifying untrusted issuer ${issuer} failed: verifier not initialized for issuer: ${goQuote(issuer)}`,
      )
    return provider
  }
}

const wrong = (why: string): ClaimError => new ClaimError(`oidc: could not expand distributed claims: ${why}`)

/** Returns undefined if the claim is present, not distributed, or aggregated. */
function sourceOf(
  claims: Claims,
  claim: string,
): { readonly endpoint: string; readonly accessToken: string } | undefined {
  const { _claim_names: names, _claim_sources: sources } = claims
  if (Object.hasOwn(claims, claim) || names === undefined) return undefined
  if (!isObject(names)) throw wrong('oidc: error parsing distributed claim names')
  if (sources === undefined) throw wrong('oidc: no claim sources')
  if (!isObject(sources)) throw wrong('oidc: could not parse claim sources')
  if (!Object.hasOwn(names, claim)) return undefined
  const name = textOf(names[claim])
  const source = Object.hasOwn(sources, name) ? sources[name] : undefined
  if (!isObject(source)) throw wrong(`id token _claim_names contained a source ${name} missing in _claims_sources`)
  const endpoint = textOf(source.endpoint)
  return endpoint ? { endpoint, accessToken: textOf(source.access_token) } : undefined
}
