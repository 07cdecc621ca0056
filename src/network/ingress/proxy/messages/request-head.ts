/** The head of a client's request: its authority and target, in one form for HTTP/1.1 and HTTP/2. */
import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { type Authority, parseAuthority } from '../../picture/hosts.ts'
import { splitTarget, withoutDotSegments } from '../../picture/paths.ts'
import type { RoutedRequest } from '../../picture/route.ts'

export type ClientRequest = IncomingMessage | Http2ServerRequest

export interface RequestHead extends RoutedRequest {
  /** As the client has sent it: `example.com:8080`. */
  readonly authority: string
  readonly parsedAuthority: Authority
  /** With the question mark, or empty. */
  readonly query: string
}

/** Returns the head, or a sentence about what is wrong with it. */
export function headOf(request: ClientRequest): RequestHead | { readonly fault: string } {
  const target = targetOf(request)
  if (!target) return { fault: 'the target of the request is not a path or a URL of http' }
  if (hasManyHosts(request)) return { fault: 'the request has more than one Host header' }
  const authority = target.authority ?? authorityOf(request)
  const parsed = authority === undefined ? undefined : parseAuthority(authority)
  if (authority === undefined || !parsed) return { fault: 'the Host header of the request is missing or not valid' }
  const { path, query } = splitTarget(target.path)
  let parameters: URLSearchParams | undefined
  return {
    authority,
    parsedAuthority: parsed,
    host: parsed.host,
    path: withoutDotSegments(path),
    query,
    method: request.method ?? 'GET',
    header: (name) => headerText(request.headers[name]),
    parameter: (name) => (parameters ??= new URLSearchParams(query)).get(name) ?? undefined,
  }
}

const headerText = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(',') : value

/** The authority of an absolute URL takes precedence over Host (RFC 9112, 3.2.2). */
function targetOf({ url = '' }: ClientRequest): { readonly path: string; readonly authority?: string } | undefined {
  if (url.startsWith('/')) return { path: url }
  if (url === '*') return { path: '/' }
  const [, authority, path] = /^https?:\/\/([^/?#]+)(.*)$/i.exec(url) ?? []
  if (authority === undefined || path === undefined) return undefined
  return { authority, path: path.startsWith('/') ? path : `/${path}` }
}

function authorityOf({ headers }: ClientRequest): string | undefined {
  const pseudo = headers[':authority']
  return typeof pseudo === 'string' ? pseudo : headers.host
}

/** Node uses the first of several, another server may use the last. */
function hasManyHosts({ rawHeaders }: ClientRequest): boolean {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts > 1
}

/** Returns true if the request has a body, or may have one. */
export function hasBody(request: ClientRequest): boolean {
  if ('stream' in request) return !request.stream.endAfterHeaders
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0
}
