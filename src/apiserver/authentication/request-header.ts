/**
 * Request headers: a front proxy has authenticated the user and says who it is (`X-Remote-User` and others). It is
 * believed if it shows a client certificate of the authority for front proxies, with a name that is allowed.
 */

import { type Bundle, bundleText, signedBy } from '../certificates/signed-by.ts'
import type { Request } from '../http/exchange.ts'
import { type Authenticator, authenticated } from './authenticator.ts'

/** As the flags `--requestheader-…`. */
export interface RequestHeaderOptions {
  readonly clientCA: Bundle
  /** Common names; any if there are none. */
  readonly allowedNames: readonly string[]
  readonly usernameHeaders: readonly string[]
  readonly uidHeaders: readonly string[]
  readonly groupHeaders: readonly string[]
  readonly extraHeadersPrefix: readonly string[]
}

/** What kube-apiserver's own front proxy sends. */
export const defaultHeaders = {
  usernameHeaders: ['X-Remote-User'],
  uidHeaders: ['X-Remote-Uid'],
  groupHeaders: ['X-Remote-Group'],
  extraHeadersPrefix: ['X-Remote-Extra-'],
} as const

/**
 * Whether a header is one of these, which are of nobody's concern once the user is known; undefined where all have
 * their usual names.
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
    // Nearly nobody is the front proxy: headers are not looked at for others.
    const peer = request.clientCertificate()
    if (!peer || bundleText(options.clientCA) === '') return undefined
    const { CN = '' } = peer.certificate.subject as { readonly CN?: string }
    const isAllowed = options.allowedNames.length === 0 || options.allowedNames.includes(CN)
    // Others may still know the certificate; whom nobody knows is not taken for one who showed none.
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

/** What the first header says that says something; of a header that stands several times, the first counts. */
const first = (request: Request, names: readonly string[]): string | undefined =>
  names.map((name) => request.headerValues(name)[0]).find(Boolean)

/**
 * Keys are escaped, since headers take fewer characters than keys. The same key under several prefixes has the values
 * of all.
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
