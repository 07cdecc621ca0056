/**
 * Authenticates at one registry: by HTTP basic authentication, or by tokens that a server of tokens issues for the
 * repository (OCI distribution, *token authentication*).
 */
import type { IncomingMessage } from 'node:http'
import { isObject, textOf } from '../../formats/manifest.ts'
import { ImageError } from '../../image-error.ts'
import { parseChallenges } from './challenge.ts'
import { type HttpExchange, readBody } from './http-exchange.ts'

/** A login of a registry. An identity token takes the place of the password. */
export interface RegistryLogin {
  readonly username: string
  readonly password: string
  /** A refresh token of OAuth 2, from a login in a browser. */
  readonly identityToken?: string
  /** A token that is sent as it is. */
  readonly registryToken?: string
}

export interface AuthorizerOptions {
  readonly exchange: HttpExchange
  readonly login: RegistryLogin | undefined
  /** Milliseconds since any moment. */
  readonly now: () => number
}

/** A token without a lifetime is good for 60 s; it is renewed so long before its end, in ms. */
const defaultLifetimeS = 60
const earlyMs = 10_000
const maxTokenAnswerBytes = 1024 * 1024
const clientName = 't8s'

interface Token {
  readonly value: string
  readonly expires: number
}

export class Authorizer {
  readonly #options: AuthorizerOptions
  readonly #tokens = new Map<string, Token>()
  /** Set once the registry has asked for a password. */
  #isBasic = false

  constructor(options: AuthorizerOptions) {
    this.#options = options
  }

  /** The value of `Authorization` for a scope such as `repository:web:pull`; undefined before the first challenge. */
  header(scope: string): string | undefined {
    const { login, now } = this.#options
    if (login?.registryToken) return `Bearer ${login.registryToken}`
    if (this.#isBasic && login) return basic(login)
    const token = this.#tokens.get(scope)
    return token && token.expires > now() ? `Bearer ${token.value}` : undefined
  }

  /**
   * Prepares the answer to a 401 response. Returns false if credentials are wrong or missing, so that the request would
   * fail again. Rejects if the server of tokens denies one.
   */
  async answer(
    response: IncomingMessage,
    scope: string,
    sent: string | undefined,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const challenges = parseChallenges(response.headers['www-authenticate'] ?? '')
    const bearer = challenges.find(({ scheme }) => scheme === 'bearer')
    const { login } = this.#options
    if (bearer) {
      // A token that has just been issued is not worth another try, unless the registry says that it has expired.
      if (sent?.startsWith('Bearer ') && bearer.parameters.get('error') !== 'invalid_token') return false
      this.#tokens.delete(scope)
      this.#tokens.set(scope, await this.#fetchToken(response, bearer.parameters, scope, signal))
      return true
    }
    if (!login || sent?.startsWith('Basic ') || !challenges.some(({ scheme }) => scheme === 'basic')) return false
    this.#isBasic = true
    return true
  }

  async #fetchToken(
    response: IncomingMessage,
    parameters: ReadonlyMap<string, string>,
    scope: string,
    signal: AbortSignal | undefined,
  ): Promise<Token> {
    const { exchange, login, now } = this.#options
    const realm = URL.parse(parameters.get('realm') ?? '')
    if (!realm || !/^https?:$/.test(realm.protocol)) throw denied('no URL of tokens in the challenge')
    const isPlain = !('encrypted' in response.socket && response.socket.encrypted)
    if (login && realm.protocol === 'http:' && !isPlain) throw denied(`${realm.origin} is not encrypted`)
    const service = parameters.get('service') ?? ''
    const wanted = parameters.get('scope') ?? scope
    const started = now()
    const answer = await exchange.send({
      ...(login?.identityToken
        ? refreshRequest(realm, service, wanted, login.identityToken)
        : tokenRequest(realm, service, wanted, login)),
      signal,
    })
    const body = await readBody(answer, maxTokenAnswerBytes)
    if (answer.statusCode !== 200)
      throw denied(
        `failed to fetch ${login ? 'oauth' : 'anonymous'} token: ` +
          `unexpected status: ${answer.statusCode} ${answer.statusMessage}`,
      )
    return decodeToken(body, started)
  }
}

function tokenRequest(realm: URL, service: string, scope: string, login: RegistryLogin | undefined) {
  const url = new URL(realm)
  if (service) url.searchParams.set('service', service)
  for (const one of scope.split(' ')) url.searchParams.append('scope', one)
  if (login) url.searchParams.set('account', login.username)
  const headers: Record<string, string> = { 'user-agent': clientName, ...(login && { authorization: basic(login) }) }
  return { method: 'GET', url: url.href, headers } as const
}

function refreshRequest(realm: URL, service: string, scope: string, token: string) {
  const form = new URLSearchParams({
    grant_type: 'refresh_token',
    service,
    client_id: clientName,
    scope,
    refresh_token: token,
  })
  const headers = { 'user-agent': clientName, 'content-type': 'application/x-www-form-urlencoded' }
  return { method: 'POST', url: realm.href, headers, body: form.toString() } as const
}

function decodeToken(body: Buffer, started: number): Token {
  let fields: unknown
  try {
    fields = JSON.parse(body.toString())
  } catch {
    fields = undefined
  }
  const { token, access_token: accessToken, expires_in: lifetime } = isObject(fields) ? fields : {}
  const value = textOf(token) || textOf(accessToken)
  if (!/^[\x21-\x7e]+$/.test(value)) throw denied('the answer contains no token')
  const lifetimeS = typeof lifetime === 'number' && lifetime > 0 ? lifetime : defaultLifetimeS
  return { value, expires: started + lifetimeS * 1000 - earlyMs }
}

const basic = ({ username, password }: RegistryLogin): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

const denied = (reason: string): ImageError => new ImageError('Unknown', `failed to authorize: ${reason}`)
