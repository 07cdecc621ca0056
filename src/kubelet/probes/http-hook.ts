/** Sends the requests of HTTP lifecycle hooks. Any answer is a success. */
import type { PodEvents } from '../containers/container-events.ts'
import type { SendHook } from '../containers/lifecycle-hooks.ts'
import type { Pod } from '../pod-types.ts'
import { HttpGetError, sendHttpGet } from './handlers/http/http-exchange.ts'
import { type HttpGetRequest, httpGetRequest } from './handlers/http/http-request.ts'
import { httpOverTls } from './handlers/network-error.ts'
import { ProbeError } from './handlers/outcome.ts'
import { joinHostPort } from './handlers/port.ts'

export interface HttpHookOptions {
  readonly events: PodEvents
  /** The pod's address; undefined if it has none. */
  podIp(pod: Pod): string | undefined
  /** Counts hooks that were retried without TLS: `kubelet_lifecycle_handler_http_fallbacks_total`. */
  countFallback(): void
}

/**
 * A hook with the scheme HTTPS whose server speaks HTTP is retried with HTTP, without its Authorization header: such
 * hooks worked before schemes were obeyed.
 */
export const httpHookSender =
  ({ events, podIp, countFallback }: HttpHookOptions): SendHook =>
  async (pod, container, action) => {
    const ip = podIp(pod)
    if (!action.host && !ip) throw new Error('failed to find networking container')
    const request = httpGetRequest(action, container, ip ?? '', 'lifecycle')
    try {
      await sendHttpGet(request)
    } catch (error) {
      // The body counts for nothing.
      if (error instanceof ProbeError) return
      if (!(error instanceof HttpGetError) || error.reason !== httpOverTls) throw error
      await sendHttpGet(withoutTls(request)).catch(() => {
        throw error
      })
      countFallback()
      const address = joinHostPort(request.host, request.port)
      const message = `request to HTTPS lifecycle hook ${address} got HTTP response, retry with HTTP succeeded`
      events.ofPod(pod, 'Warning', 'LifecycleHTTPFallback', message)
    }
  }

const withoutTls = (request: HttpGetRequest): HttpGetRequest => ({
  ...request,
  scheme: 'http',
  headers: request.headers.filter(([name]) => name !== 'Authorization'),
})
