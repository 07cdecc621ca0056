/** Filters of HTTPRoutes and GRPCRoutes. */
import type { BackendRef, HeaderChanges, PathChange, Redirect, RouteAction } from '../route.ts'
import type { Filter, HeaderModifier, PathModifier, RouteBackend } from './kinds.ts'

/** The part of an action that filters define. */
export type FilteredAction = Pick<
  RouteAction,
  'requestHeaders' | 'responseHeaders' | 'redirect' | 'rewrite' | 'mirrors'
>

/** Why a route is not accepted: the reason of its condition, and a sentence. */
export class RouteFault extends Error {
  readonly reason: string

  constructor(reason: string, message: string) {
    super(message)
    this.name = 'RouteFault'
    this.reason = reason
  }
}

/** Finds the Service of a reference; undefined, after it was recorded, if there is none. */
export type ResolveBackend = (reference: RouteBackend) => BackendRef | undefined

/** Returns the part of the action. Throws RouteFault for filters that are not supported, or do not fit together. */
export function filteredAction(filters: readonly Filter[], resolve: ResolveBackend): FilteredAction {
  const action: { -readonly [Key in keyof FilteredAction]: FilteredAction[Key] } = {}
  const mirrors: { backend: BackendRef; share: number }[] = []
  for (const filter of filters) {
    switch (filter.type) {
      case 'RequestHeaderModifier':
        action.requestHeaders = headerChanges(filter.requestHeaderModifier)
        break
      case 'ResponseHeaderModifier':
        action.responseHeaders = headerChanges(filter.responseHeaderModifier)
        break
      case 'RequestRedirect':
        action.redirect = redirectOf(filter.requestRedirect)
        break
      case 'URLRewrite':
        action.rewrite = { hostname: filter.urlRewrite?.hostname, path: pathChange(filter.urlRewrite?.path) }
        break
      case 'RequestMirror': {
        const backend = filter.requestMirror && resolve(filter.requestMirror.backendRef)
        if (backend) mirrors.push({ backend, share: shareOf(filter) })
        break
      }
      default:
        throw new RouteFault('UnsupportedValue', `filter ${filter.type} is not supported: remove it`)
    }
  }
  if (action.redirect && action.rewrite)
    throw new RouteFault('IncompatibleFilters', 'RequestRedirect and URLRewrite exclude each other: remove one')
  return mirrors.length > 0 ? { ...action, mirrors } : action
}

/** Returns the changes of one backend. Throws RouteFault for filters that apply to whole rules only. */
export function backendFilters(filters: readonly Filter[]): Pick<FilteredAction, 'requestHeaders' | 'responseHeaders'> {
  const other = filters.find(({ type }) => type !== 'RequestHeaderModifier' && type !== 'ResponseHeaderModifier')
  if (other)
    throw new RouteFault('UnsupportedValue', `filter ${other.type} is not supported for a backend: move it to the rule`)
  return filteredAction(filters, () => undefined)
}

function headerChanges({ set = [], add = [], remove = [] }: HeaderModifier = {}): HeaderChanges {
  const pairs = (values: NonNullable<HeaderModifier['set']>): (readonly [string, string])[] =>
    values.map(({ name, value }) => [name.toLowerCase(), value])
  return { set: pairs(set), add: pairs(add), remove: remove.map((name) => name.toLowerCase()) }
}

function redirectOf({ scheme, hostname, port, path, statusCode = 302 }: Filter['requestRedirect'] = {}): Redirect {
  return { scheme, hostname, port, statusCode, path: pathChange(path) }
}

function pathChange(path: PathModifier | undefined): PathChange | undefined {
  switch (path?.type) {
    case undefined:
      return undefined
    case 'ReplaceFullPath':
      return { type: 'ReplaceFullPath', value: path?.replaceFullPath ?? '/' }
    case 'ReplacePrefixMatch':
      return { type: 'ReplacePrefixMatch', value: path?.replacePrefixMatch ?? '/' }
    default:
      throw new RouteFault('UnsupportedValue', `path modifier ${path?.type} is not supported: use ReplacePrefixMatch`)
  }
}

function shareOf({ requestMirror: { percent, fraction } = { backendRef: { name: '' } } }: Filter): number {
  if (fraction) return fraction.numerator / (fraction.denominator ?? 100)
  return percent === undefined ? 1 : percent / 100
}
