/** Decides what happens to a request: its route, its backend, and the endpoints to try. */
import type { OutgoingHttpHeaders } from 'node:http'
import type { Backends, EndpointAddress, Target } from '../../picture/backends.ts'
import type { Route, WeightedBackend } from '../../picture/route.ts'
import type { RouteTable } from '../../picture/route-table.ts'
import type { Balancer } from '../connections/balancer.ts'
import { type Client, changeHeaders, forwardedHeaders } from './headers.ts'
import { changedTarget, locationOf } from './path-change.ts'
import { type ClientRequest, headOf, type RequestHead } from './request-head.ts'

/** The port that a request came to. */
export interface ServedPort {
  readonly scheme: 'http' | 'https'
  readonly port: number
  readonly table: RouteTable
}

/** A response of the proxy itself. */
export interface OwnResponse {
  readonly status: number
  readonly sentence: string
  readonly headers?: OutgoingHttpHeaders
  /** The route, if one was found. */
  readonly route?: Route
}

export interface RoutedExchange {
  readonly route: Route
  readonly head: RequestHead
  readonly chosen: WeightedBackend
  readonly target: Target
  readonly endpoints: readonly EndpointAddress[]
  /** Of the request for the backend. */
  readonly path: string
  readonly authority: string
  readonly headers: OutgoingHttpHeaders
}

/** Returns a response for requests that no backend gets. */
export function routeRequest(
  request: ClientRequest,
  { scheme, port, table }: ServedPort,
  backends: Backends,
  balancer: Balancer,
): RoutedExchange | OwnResponse {
  const head = headOf(request)
  if ('fault' in head) return { status: 400, sentence: `${head.fault}: correct the request` }
  const route = table.find(head)
  if (!route)
    return { status: 404, sentence: 'no rule for this host and path: create an Ingress or a route of the Gateway API' }
  const { action, match } = route
  const client: Client = {
    address: request.socket.remoteAddress?.replace(/^::ffff:/, '') ?? '',
    scheme,
    authority: head.authority,
    port: head.parsedAuthority.port ?? port,
  }
  if (action.redirect) {
    const location = locationOf(action.redirect, match, head, client)
    return { status: action.redirect.statusCode, sentence: `see ${location}`, headers: { location }, route }
  }
  const chosen = balancer.chooseBackend(action)
  if (!chosen) return { status: 500, sentence: `${action.name} has no backends: add one with a weight`, route }
  if ('fault' in chosen.backend) return { status: 500, sentence: chosen.backend.fault, route }
  const target = backends.resolve(chosen.backend)
  if ('fault' in target) return { status: 503, sentence: target.fault, route }
  const headers = forwardedHeaders(request.headers, client)
  changeHeaders(headers, action.requestHeaders)
  changeHeaders(headers, chosen.requestHeaders)
  return {
    route,
    head,
    chosen,
    target,
    endpoints: balancer.endpointsOf(target),
    path: changedTarget(action.rewrite?.path, match, head),
    authority: action.rewrite?.hostname ?? head.authority,
    headers,
  }
}
