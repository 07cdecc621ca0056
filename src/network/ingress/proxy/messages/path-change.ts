/** Redirects, and changes of paths and hosts. */
import { replacePrefix } from '../../picture/paths.ts'
import type { PathChange, Redirect, RouteMatch } from '../../picture/route.ts'
import type { Client } from './headers.ts'
import type { RequestHead } from './request-head.ts'

/** Returns the path with its query after a change. Without a change it is the path that was matched. */
export function changedTarget(change: PathChange | undefined, match: RouteMatch, { path, query }: RequestHead): string {
  if (!change) return path + query
  switch (change.type) {
    case 'ReplaceFullPath':
      return (change.value || '/') + query
    case 'ReplacePrefixMatch':
      return replacePrefix(path, match.path.value, change.value) + query
    default:
      throw change satisfies never
  }
}

const wellKnownPorts: Readonly<Record<string, number>> = { http: 80, https: 443 }

/** Returns the location of a redirect, as the Gateway API says: a new scheme without a port has its usual port. */
export function locationOf(redirect: Redirect, match: RouteMatch, head: RequestHead, client: Client): string {
  const scheme = redirect.scheme ?? client.scheme
  const host = redirect.hostname ?? head.host
  const port = redirect.port ?? (redirect.scheme ? wellKnownPorts[redirect.scheme] : client.port)
  const suffix = port === undefined || port === wellKnownPorts[scheme] ? '' : `:${port}`
  const name = host.includes(':') ? `[${host}]` : host
  return `${scheme}://${name}${suffix}${changedTarget(redirect.path, match, head)}`
}
