/** Rewrites addresses in a backend's response so that a browser stays on the path of the proxy. */
import { posix } from 'node:path'

/** The paths and hosts of one proxied request. */
export interface ProxyAddress {
  /** The path up to `/proxy`. */
  readonly own: string
  /** `HOST:PORT` of the backend. */
  readonly backend: string
  /** The host that the client has requested: the value of `Host`. */
  readonly requested: string
}

/** Scheme, host, path and the rest of an address (RFC 3986, appendix B). */
const parts = /^(?:[a-z][a-z0-9+.-]*:)?(?:\/\/(?<host>[^/?#]*))?(?<path>[^?#]*)(?<rest>.*)$/is
/** `mailto:a@example.com`, which names no host. */
const opaque = /^[a-z][a-z0-9+.-]*:(?!\/\/)/i

/**
 * Returns the address by which the client reaches `address` through the proxy. Relative addresses and those of other
 * hosts stay as they are.
 *
 * @example
 * throughProxy('/login?a=1', { own: '/api/v1/namespaces/a/pods/b/proxy', … }) // '/api/v1/…/b/proxy/login?a=1'
 */
export function throughProxy(address: string, { own, backend, requested }: ProxyAddress): string {
  const { host, path = '', rest = '' } = parts.exec(address)?.groups ?? {}
  const isOther = host !== undefined && host !== backend && host !== requested
  if (isOther || !path.startsWith('/') || opaque.test(address)) return address
  const prefix = host !== undefined && host === requested ? address.slice(0, address.indexOf(host) + host.length) : ''
  return `${prefix}${path.startsWith(own) ? path : posix.join(own, path)}${rest}`
}
