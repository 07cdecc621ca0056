/** `…/pods/NAME/proxy/PATH`, and the same for services and nodes: forwards requests to the object's address. */
import { internal } from '../../machinery/status-error.ts'
import type { Request, Response } from '../http/exchange.ts'
import type { WaitGroup } from '../http/wait-group.ts'
import { addressOf, BackendError, forward } from '../outgoing/forward/forward.ts'
import { forwardedHeaders } from '../outgoing/forward/headers.ts'
import { unavailable } from '../outgoing/services/resolve.ts'
import { type Locate, locateNode, locatePod, locateService, type Places } from './locate.ts'
import { type ProxyAddress, throughProxy } from './own-address.ts'

const locators: Readonly<Record<string, Locate>> = { pods: locatePod, services: locateService, nodes: locateNode }

/** Pods must not control cross-origin access to this server. */
const crossOrigin = [
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
  'access-control-expose-headers',
  'access-control-max-age',
]

/**
 * Answers a request for a proxy subresource. Rejects with 404 if the object is missing and 503 if there is no response.
 */
export async function proxySubresource(request: Request, places: Places, waitGroup: WaitGroup): Promise<Response> {
  const { resource, namespace, name } = request.info
  const backend = await locators[resource]!(places, namespace, name)
  const { own, path } = splitPath(request)
  if (path === '' && (request.method === 'GET' || request.method === 'HEAD') && !request.header('upgrade')) {
    // Relative links of a page need the slash.
    return { status: 301, headers: { location: `${own}/${request.rawQuery && `?${request.rawQuery}`}` } }
  }
  const target = `${path || '/'}${request.rawQuery && `?${request.rawQuery}`}`
  const requested = hostOf(request)
  const headers = {
    ...forwardedHeaders(request),
    // The backend sees the host that the client has requested, as behind kube-apiserver.
    host: requested,
    'x-forwarded-uri': `${own}${path}`,
  }
  try {
    const response = await forward({ request, backend, target, headers, longRunning: true, waitGroup })
    for (const header of crossOrigin) delete response.headers[header]
    return withOwnAddresses(response, { own, backend: addressOf(backend), requested })
  } catch (error) {
    if (!(error instanceof BackendError)) throw error
    throw error.upgrading ? internal(error.message) : unavailable(`error trying to reach service: ${error.message}`)
  }
}

const hostOf = (request: Request): string => request.header('host') ?? request.header(':authority') ?? ''

/** The path up to `/proxy`, and the rest, unmodified. */
function splitPath({ path, info }: Request): { readonly own: string; readonly path: string } {
  const segments = path.split('/')
  const end = info.namespace ? 8 : 6
  const rest = segments.slice(end)
  return { own: segments.slice(0, end).join('/'), path: rest.length ? `/${rest.join('/')}` : '' }
}

/** Rewrites the backend's redirects, and the links of its HTML pages. */
async function withOwnAddresses(response: Response, address: ProxyAddress): Promise<Response> {
  const { headers, body } = response
  const rewrite = (text: string): string => throughProxy(text, address)
  const { location, 'content-type': type, 'content-encoding': encoding = '' } = headers
  if (typeof location === 'string') return { ...response, headers: { ...headers, location: rewrite(location) } }
  const isPage = typeof type === 'string' && type.split(';')[0]!.trim() === 'text/html'
  if (!isPage || typeof body !== 'function' || typeof encoding !== 'string') return response
  const { isReadable, pageSink } = await import('./page-links.ts')
  if (!isReadable(encoding)) return response
  const { 'content-length': _, ...others } = headers
  return { ...response, headers: others, body: (sink) => body(pageSink(sink, encoding, rewrite)) }
}
