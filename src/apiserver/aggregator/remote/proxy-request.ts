/**
 * Proxies a request to the server of an aggregated API, with the user in headers and the front proxy's certificate.
 */

import { type Request, type Response, text } from '../../http/exchange.ts'
import type { WaitGroup } from '../../http/wait-group.ts'
import type { Backend } from '../../outgoing/index.ts'
import { BackendError, forward, forwardedHeaders, isUpgrade } from '../../outgoing/index.ts'
import { identityHeaders } from './identity-headers.ts'
import type { RemoteService } from './remote-service.ts'

const unavailable = (why: string): Response => text(503, `${why}\n`)

/** Responds with 503 in plain text, as upstream does, if the other server cannot be reached. */
export async function proxyRequest(request: Request, service: RemoteService, waitGroup: WaitGroup): Promise<Response> {
  if (!service.available) return unavailable('service unavailable')
  let backend: Backend
  try {
    backend = await service.backend()
  } catch {
    return unavailable('service unavailable')
  }
  const target = request.rawQuery ? `${request.path}?${request.rawQuery}` : request.path
  const headers = { ...forwardedHeaders(request), ...identityHeaders(request.user!) }
  const longRunning = request.info.verb === 'watch' || isUpgrade(request)
  try {
    return await forward({ request, backend, target, headers, longRunning, waitGroup })
  } catch (error) {
    if (!(error instanceof BackendError)) throw error
    return unavailable(error.upgrading ? error.message : `error trying to reach service: ${error.message}`)
  }
}
