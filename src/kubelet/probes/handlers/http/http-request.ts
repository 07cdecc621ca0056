/** Requests of `httpGet` in probes and hooks, built as upstream: scheme, host, port, path and headers. */
import type { Container } from '../../../pod-types.ts'
import { containerPort, joinHostPort } from '../port.ts'

export type HttpGet = NonNullable<NonNullable<Container['livenessProbe']>['httpGet']>

export interface HttpGetRequest {
  readonly scheme: 'http' | 'https'
  readonly host: string
  readonly port: number
  /** Path and query, as they are sent. */
  readonly path: string
  /** The value of the Host header. */
  readonly hostHeader: string
  /** Names in canonical form; several values of one name are several entries. */
  readonly headers: readonly (readonly [string, string])[]
}

const version = '1.36'

/** `agent` is `probe` or `lifecycle`. Throws a ProbeError if the port is invalid. */
export function httpGetRequest(
  { scheme = 'HTTP', host, port, path = '', httpHeaders = [] }: HttpGet,
  container: Container,
  podIp: string,
  agent: 'probe' | 'lifecycle',
): HttpGetRequest {
  const number = containerPort(port as number | string, container)
  const given = httpHeaders.map(({ name, value }) => [canonicalName(name), value] as const)
  const address = host || podIp
  return {
    scheme: scheme.toLowerCase() === 'https' ? 'https' : 'http',
    host: address,
    port: number,
    path: sentPath(path),
    hostHeader: given.find(([name]) => name === 'Host')?.[1] || joinHostPort(address, number),
    headers: withDefaults(given, `kube-${agent}/${version}`),
  }
}

/** Headers that the connection determines. */
const ownHeaders = new Set(['Host', 'Content-Length', 'Transfer-Encoding', 'Trailer', 'Connection'])

/** An empty User-Agent or Accept means that none is sent. */
function withDefaults(given: HttpGetRequest['headers'], userAgent: string): HttpGetRequest['headers'] {
  const isGiven = (wanted: string): boolean => given.some(([name]) => name === wanted)
  const firstOf = (wanted: string): string => given.find(([name]) => name === wanted)?.[1] ?? ''
  const agent = isGiven('User-Agent') ? firstOf('User-Agent') : userAgent
  const rest: (readonly [string, string])[] = given.filter(
    ([name]) => !ownHeaders.has(name) && name !== 'User-Agent' && !(name === 'Accept' && firstOf('Accept') === ''),
  )
  if (!isGiven('Accept')) rest.push(['Accept', '*/*'])
  rest.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return agent === '' ? rest : [['User-Agent', agent], ...rest]
}

/** `x-custom-HEADER` → `X-Custom-Header`. A name that is no token stays as it is. */
const canonicalName = (name: string): string =>
  /^[\w!#$%&'*+.^`|~-]+$/.test(name)
    ? name.toLowerCase().replace(/(^|-)([a-z])/g, (_, dash: string, letter: string) => dash + letter.toUpperCase())
    : name

/**
 * Path and query of a URL of which only these are given. A path that is no part of a URL is sent as a path with all
 * special characters encoded.
 */
function sentPath(given: string): string {
  if (/%(?![0-9a-f]{2})/i.test(given)) return absolute(encodeURI(given).replaceAll('?', '%3F').replaceAll('#', '%23'))
  // A scheme and host in the path count for nothing.
  const [withoutFragment = ''] = given.replace(/^([a-z][a-z0-9+.-]*:)?\/\/[^/?#]*/i, '').split('#')
  return absolute(withoutFragment.replace(/[^!$-;=?-Z_a-z~@[\]]/gu, (character) => encodeURIComponent(character)))
}

const absolute = (path: string): string => (path.startsWith('/') ? path : `/${path}`)

/** The URL of a request, for messages. */
export const urlOf = ({ scheme, host, port, path }: HttpGetRequest): string =>
  `${scheme}://${joinHostPort(host, port)}${path}`
