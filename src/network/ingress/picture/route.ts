/** Routes: what the proxy does with the requests that a rule of an Ingress, HTTPRoute or GRPCRoute matches. */
import { matchesPath, type PathMatch } from './paths.ts'

/** A port of a Service. */
export interface BackendRef {
  readonly namespace: string
  readonly name: string
  /** A number, or the name of the port. */
  readonly port: number | string
  /** True if requests are gRPC, and so need HTTP/2. */
  readonly isGrpc?: boolean
}

/** A backend's share of requests, with the changes of headers that apply to it alone. */
export interface WeightedBackend {
  readonly weight: number
  /** A sentence in place of a backend that is not usable: its share of requests gets status 500. */
  readonly backend: BackendRef | { readonly fault: string }
  readonly requestHeaders?: HeaderChanges
  readonly responseHeaders?: HeaderChanges
}

/** Names are in lower case. Applied in this order: set, add, remove. */
export interface HeaderChanges {
  readonly set: readonly (readonly [name: string, value: string])[]
  readonly add: readonly (readonly [name: string, value: string])[]
  readonly remove: readonly string[]
}

/** A change of a path: the whole path, or the prefix that the rule has matched. */
export type PathChange =
  | { readonly type: 'ReplaceFullPath'; readonly value: string }
  | { readonly type: 'ReplacePrefixMatch'; readonly value: string }

/** The location of a redirect: parts that are undefined are those of the request. */
export interface Redirect {
  readonly scheme?: string
  readonly hostname?: string
  readonly port?: number
  readonly path?: PathChange
  readonly statusCode: number
}

export interface RouteAction {
  /** The origin, for logs and metrics: `Ingress/default/web`. */
  readonly name: string
  readonly backends: readonly WeightedBackend[]
  readonly requestHeaders?: HeaderChanges
  readonly responseHeaders?: HeaderChanges
  /** Answers with this in place of a backend. */
  readonly redirect?: Redirect
  readonly rewrite?: { readonly hostname?: string; readonly path?: PathChange }
  /** Get a copy of each request; their responses are dropped. `share` is between 0 and 1. */
  readonly mirrors?: readonly { readonly backend: BackendRef; readonly share: number }[]
  /** For the whole exchange, and for the response of one backend, in ms. */
  readonly timeouts?: { readonly requestMs?: number; readonly backendMs?: number }
}

/** A condition on a header or on a parameter of the query. */
export interface ValueMatch {
  readonly name: string
  matches(value: string): boolean
}

/** The conditions of a route, all of which a request has to meet. */
export interface RouteMatch {
  readonly path: PathMatch
  readonly method?: string
  readonly headers?: readonly ValueMatch[]
  readonly query?: readonly ValueMatch[]
}

export interface Route {
  /** A pattern of `hosts.ts`. */
  readonly host: string
  readonly match: RouteMatch
  readonly action: RouteAction
  /** True for the default backend of an Ingress, which comes after all its paths. */
  readonly isDefault?: boolean
  /** Decides between equal rules: the oldest object, then its name, then the first rule. */
  readonly origin: { readonly createdAt: string; readonly key: string }
}

/** The parts of a request that conditions read. */
export interface RoutedRequest {
  readonly host: string
  /** Without its query, and without dot segments. */
  readonly path: string
  readonly method: string
  header(name: string): string | undefined
  /** The first value of a parameter. */
  parameter(name: string): string | undefined
}

/** Returns true if the request meets all conditions. */
export function matchesRequest({ path, method, headers, query }: RouteMatch, request: RoutedRequest): boolean {
  if (method !== undefined && method !== request.method) return false
  if (!matchesPath(path, request.path)) return false
  const meets = (condition: ValueMatch, value: string | undefined): boolean =>
    value !== undefined && condition.matches(value)
  return (
    (headers?.every((condition) => meets(condition, request.header(condition.name))) ?? true) &&
    (query?.every((condition) => meets(condition, request.parameter(condition.name))) ?? true)
  )
}

/**
 * Orders routes of a host: the first one that matches is used. The order is that of the Gateway API: exact path,
 * longest prefix, method, number of headers, number of parameters, oldest object, name. It serves Ingress, too.
 */
export function compareRoutes(a: Route, b: Route): number {
  return (
    Number(a.isDefault ?? false) - Number(b.isDefault ?? false) ||
    pathRank(a.match.path) - pathRank(b.match.path) ||
    lengthOf(b.match.path) - lengthOf(a.match.path) ||
    Number(b.match.method !== undefined) - Number(a.match.method !== undefined) ||
    (b.match.headers?.length ?? 0) - (a.match.headers?.length ?? 0) ||
    (b.match.query?.length ?? 0) - (a.match.query?.length ?? 0) ||
    compareTexts(a.origin.createdAt, b.origin.createdAt) ||
    compareTexts(a.origin.key, b.origin.key)
  )
}

const ranks = { Exact: 0, RegularExpression: 1, Prefix: 2, last: 3 } as const
const pathRank = (match: PathMatch): number =>
  ranks[match.type === 'RegularExpression' && match.isLast ? 'last' : match.type]
const lengthOf = ({ value }: PathMatch): number => value.replace(/\/$/, '').length
const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
