/** Who asks: what is shown with each request, or when a connection begins. */
import { readFile } from 'node:fs/promises'

/** A client certificate and its key, PEM. */
export interface ClientCertificate {
  readonly cert: string
  readonly key: string
}

export interface Credentials {
  /**
   * The header `authorization` of a request that is sent now; undefined where there is none. Rejects with an Error that
   * says what is missing.
   */
  authorization?(): Promise<string | undefined>
  /** What is shown to a server when a connection begins. */
  certificate?(): Promise<ClientCertificate | undefined>
  /** Told that a server has answered 401: whether there may be others now. */
  refused?(): boolean
}

/** As whom a request is made, where who asks may ask for others (`impersonate` in RBAC). */
export interface Impersonation {
  readonly userName: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** A token that does not change. */
export const bearerToken = (token: string): Credentials => ({ authorization: async () => `Bearer ${token}` })

/** A name and a password. */
export const basicAuthentication = (username: string, password: string): Credentials => {
  const value = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  return { authorization: async () => value }
}

/** How long the content of a token's file is used, as in client-go. Milliseconds. */
const tokenFileMs = 60_000

/** A token in a file that somebody renews: read again once a minute, and when a server refuses it. */
export function tokenFile(file: string, now: () => number = Date.now): Credentials {
  let known: { readonly value: string; readonly until: number } | undefined
  return {
    async authorization() {
      if (!known || known.until <= now()) {
        const token = await readFile(file, 'utf8').catch((error) => {
          throw new Error(`the token of ${file} cannot be read: ${error.message}`)
        })
        known = { value: `Bearer ${token.trim()}`, until: now() + tokenFileMs }
      }
      return known.value
    },
    refused() {
      known = undefined
      return true
    },
  }
}

/** The headers that ask for somebody else's place (upstream's "User impersonation"). */
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
