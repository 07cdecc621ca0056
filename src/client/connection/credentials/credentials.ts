/** Credentials that are sent with each request, or in the TLS handshake. */
import { readFile } from 'node:fs/promises'

/** A client certificate and its key, PEM. */
export interface ClientCertificate {
  readonly cert: string
  readonly key: string
}

/**
 * Supplies credentials, which may change over time.
 * @example const credentials: Credentials = { authorization: async () => `Bearer ${await currentToken()}` }
 */
export interface Credentials {
  /** Returns the `authorization` header for the next request, or undefined. Rejects with an Error if it cannot. */
  authorization?(): Promise<string | undefined>
  /** Returns the client certificate for the next TLS handshake, or undefined. */
  certificate?(): Promise<ClientCertificate | undefined>
  /** Called after a 401. Returns true if the next call may return other credentials. */
  invalidate?(): boolean
}

/** The user to impersonate; needs the RBAC verb `impersonate`. */
export interface Impersonation {
  readonly userName: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/**
 * Credentials with a constant bearer token.
 * @example connectTo({ access: { url, ca, credentials: bearerToken(token) } })
 */
export const bearerToken = (token: string): Credentials => ({ authorization: async () => `Bearer ${token}` })

/**
 * Credentials with a user name and a password (RFC 7617).
 * @example connectTo({ access: { url, ca, credentials: basicAuthentication('jane', 'secret') } })
 */
export const basicAuthentication = (username: string, password: string): Credentials => {
  const value = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  return { authorization: async () => value }
}

/** The time for which the content of a token file is used, as in client-go. In ms. */
const tokenFileMs = 60_000

/**
 * Credentials from a token file that is renewed: read again after one minute, and after a 401.
 * @example connectTo({ access: { url, ca, credentials: tokenFile('/var/run/token') } })
 */
export function tokenFile(file: string, now: () => number = Date.now): Credentials {
  let cached: { readonly value: string; readonly until: number } | undefined
  return {
    async authorization() {
      if (!cached || cached.until <= now()) {
        const token = await readFile(file, 'utf8').catch((error) => {
          throw new Error(`cannot read the token file ${file}: ${error.message}`)
        })
        cached = { value: `Bearer ${token.trim()}`, until: now() + tokenFileMs }
      }
      return cached.value
    },
    invalidate() {
      cached = undefined
      return true
    },
  }
}

/** The headers of an impersonated request (upstream's "User impersonation"). */
export function impersonationHeaders({
  userName,
  uid,
  groups = [],
  extra = {},
}: Impersonation): Record<string, string | string[]> {
  return {
    'impersonate-user': userName,
    ...(uid && { 'impersonate-uid': uid }),
    ...(groups.length > 0 && { 'impersonate-group': [...groups] }),
    ...Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [
        `impersonate-extra-${encodeURIComponent(key).toLowerCase()}`,
        [...values],
      ]),
    ),
  }
}
