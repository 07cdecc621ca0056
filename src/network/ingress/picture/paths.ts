/** Paths of requests, and the rules of Ingresses and HTTPRoutes that match them. */

/** `Prefix` compares whole elements: `/foo` matches `/foo` and `/foo/bar`, but not `/foobar`. */
export type PathMatch =
  | { readonly type: 'Exact' | 'Prefix'; readonly value: string }
  | {
      readonly type: 'RegularExpression'
      readonly value: string
      readonly matches: (path: string) => boolean
      /** True if all prefixes come before it. Default: false. */
      readonly isLast?: boolean
    }

/** Matches every path. */
export const everyPath: PathMatch = { type: 'Prefix', value: '/' }

/** Returns true if the path matches. A slash at the end of a prefix makes no difference, as for Ingress upstream. */
export function matchesPath(match: PathMatch, path: string): boolean {
  switch (match.type) {
    case 'Exact':
      return path === match.value
    case 'Prefix': {
      const prefix = prefixOf(match.value)
      return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/')
    }
    case 'RegularExpression':
      return match.matches(path)
    default:
      throw match satisfies never
  }
}

/** Returns the path with another prefix, for a rewrite: `/foo/bar` by `/foo` and `/new` is `/new/bar`. */
export function replacePrefix(path: string, prefix: string, replacement: string): string {
  const rest = path.slice(prefixOf(prefix).length).replace(/^\/+/, '')
  const begin = prefixOf(replacement)
  return rest || begin === '' ? `${begin}/${rest}` : begin
}

const dotSegments = /(^|\/)(\.|%2e){1,2}(\/|$)/i

/** Returns the path without `.` and `..` (RFC 3986, 5.2.4), so that rules cannot be avoided by them. */
export function withoutDotSegments(path: string): string {
  if (!dotSegments.test(path)) return path
  const kept: string[] = []
  const segments = path.split('/').slice(1)
  for (const [at, segment] of segments.entries()) {
    const plain = segment.replace(/%2e/gi, '.')
    if (plain === '..') kept.pop()
    if (plain !== '.' && plain !== '..') kept.push(segment)
    else if (at === segments.length - 1) kept.push('')
  }
  return `/${kept.join('/')}`
}

/** Splits the target of a request into its path and its query, which begins with `?` or is empty. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const end = target.indexOf('#')
  const whole = end < 0 ? target : target.slice(0, end)
  const at = whole.indexOf('?')
  return at < 0 ? { path: whole, query: '' } : { path: whole.slice(0, at), query: whole.slice(at) }
}

const prefixOf = (value: string): string => (value.endsWith('/') ? value.slice(0, -1) : value)
