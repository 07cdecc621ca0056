/**
 * Request headers: a front proxy has authenticated the user and sets it in headers (`X-Remote-User` and others). The
 * proxy must use a client certificate of the front-proxy CA with an allowed name.
 */

import { type Bundle, bundleText, signedBy } from '../certificates/signed-by.ts'
import type { Request } from '../http/exchange.ts'
import { type Authenticator, authenticated } from './authenticator.ts'

/** As the flags `--requestheader-…`. */
export interface RequestHeaderOptions {
  readonly clientCA: Bundle
  /** Allowed common names. Empty allows all. */
  readonly allowedNames: readonly string[]
  readonly usernameHeaders: readonly string[]
  readonly uidHeaders: readonly string[]
  readonly groupHeaders: readonly string[]
  readonly extraHeadersPrefix: readonly string[]
}

/** The headers of kube-apiserver's own front proxy. */
export const defaultHeaders = {
  usernameHeaders: ['X-Remote-User'],
  uidHeaders: ['X-Remote-Uid'],
  groupHeaders: ['X-Remote-Group'],
  extraHeadersPrefix: ['X-Remote-Extra-'],
} as const

/**
 * Returns a function that recognizes these headers, so that they can be removed after authentication; undefined if all
 * have their default names.
 */
export function identityHeaders(options: RequestHeaderOptions): ((name: string) => boolean) | undefined {
  const { usernameHeaders, uidHeaders, groupHeaders, extraHeadersPrefix } = options
  const names = lowerCase([...usernameHeaders, ...uidHeaders, ...groupHeaders])
  const prefixes = lowerCase(extraHeadersPrefix)
  if ([...names, ...prefixes].every((name) => name.startsWith('x-remote-'))) return undefined
  return (name) => names.includes(name) || prefixes.some((prefix) => name.startsWith(prefix))
}

const lowerCase = (names: readonly string[]): string[] => names.map((name) => name.toLowerCase())

export function requestHeader(options: RequestHeaderOptions): Authenticator {
  const isFrontProxy = signedBy(options.clientCA)
  const usernames = lowerCase(options.usernameHeaders)
  const uids = lowerCase(options.uidHeaders)
  const groups = lowerCase(options.groupHeaders)
  const prefixes = lowerCase(options.extraHeadersPrefix)
  return (request) => {
    // Few requests come from the front proxy: the others skip the headers.
    const peer = request.clientCertificate()
    if (!peer || bundleText(options.clientCA) === '') return undefined
    const { CN = '' } = peer.certificate.subject as { readonly CN?: string }
    const isAllowed = options.allowedNames.length === 0 || options.allowedNames.includes(CN)
    // Another authenticator may still accept the certificate. If none does, the request must not become anonymous.
    if (!peer.authorized || !isFrontProxy(peer.certificate) || !isAllowed) return 'invalid'
    const name = first(request, usernames)
    if (!name) return undefined
    const uid = first(request, uids)
    const extra = extraOf(request, prefixes)
    return {
      name,
      groups: authenticated(groups.flatMap((header) => request.headerValues(header)).filter((group) => group !== '')),
      ...(uid && { uid }),
      ...(extra.size > 0 && { extra: Object.fromEntries(extra) }),
    }
  }
}

/** The first non-empty header. Of a repeated header, the first value counts. */
const first = (request: Request, names: readonly string[]): string | undefined =>
  names.map((name) => request.headerValues(name)[0]).find(Boolean)

/**
 * Keys are percent-encoded, since header names permit fewer characters. Values of the same key under several prefixes
 * are joined.
 */
function extraOf(request: Request, prefixes: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const extra = new Map<string, readonly string[]>()
  for (const prefix of prefixes) {
    for (const name of request.headerNames()) {
      if (!name.startsWith(prefix)) continue
      const key = unescaped(name.slice(prefix.length))
      extra.set(key, [...(extra.get(key) ?? []), ...request.headerValues(name)])
    }
  }
  return extra
}

function unescaped(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}
