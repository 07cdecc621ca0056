/** The reverse proxy: handles the requests and upgrades of all ports. */
import type { IncomingMessage } from 'node:http'
import type { Duplex, Readable } from 'node:stream'
import type { Backends, EndpointAddress } from '../picture/backends.ts'
import { type BackendResponse, NotConnected } from './connections/backend-response.ts'
import { Balancer } from './connections/balancer.ts'
import { Connections } from './connections/forward.ts'
import { copyBody } from './connections/mirror.ts'
import type { ProxyLimits } from './limits.ts'
import { changeHeaders } from './messages/headers.ts'
import { type ClientRequest, hasBody } from './messages/request-head.ts'
import { type ClientResponse, respondText, respondWith } from './messages/respond.ts'
import { type OwnResponse, type RoutedExchange, routeRequest, type ServedPort } from './messages/routed-request.ts'
import { openTunnel, refuseTunnel } from './messages/tunnel.ts'
import { ProxyMetrics } from './proxy-metrics.ts'

export interface ReverseProxyOptions {
  readonly backends: Backends
  readonly limits: ProxyLimits
  /** Gets a line per request. Default: none. */
  readonly accessLog?: (line: string) => void
  /** Between 0 and 1, for the share of mirrors. */
  readonly random: () => number
}

/** Why an exchange was canceled by the proxy. */
class TimedOut extends Error {}

/** The end of an exchange, for metrics and the access log. */
interface Outcome {
  route: string
  status: number
}

export class ReverseProxy {
  readonly metrics = new ProxyMetrics()
  readonly #options: ReverseProxyOptions
  readonly #balancer = new Balancer()
  readonly #connections: Connections

  constructor(options: ReverseProxyOptions) {
    this.#options = options
    this.#connections = new Connections(options.limits)
  }

  /** Handles a request. Never rejects. */
  async handle(request: ClientRequest, response: ClientResponse, port: ServedPort): Promise<void> {
    await this.#observed(request, async (outcome) => {
      response.on('error', () => {})
      request.on('error', () => {})
      const routed = routeRequest(request, port, this.#options.backends, this.#balancer)
      if ('sentence' in routed) return this.#respond(response, routed, outcome)
      outcome.route = routed.route.action.name
      await this.#exchange(request, response, routed, outcome)
    })
  }

  /** Handles a request to change the protocol of its connection. Never rejects. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, port: ServedPort): Promise<void> {
    await this.#observed(request, async (outcome) => {
      const routed = routeRequest(request, port, this.#options.backends, this.#balancer)
      outcome.route = routed.route?.action.name ?? ''
      if ('sentence' in routed) {
        outcome.status = routed.status
        return refuseTunnel(socket, routed.status, routed.sentence)
      }
      outcome.status = await openTunnel({
        request,
        socket,
        head,
        routed,
        limits: this.#options.limits,
        failed: () => this.metrics.countConnectFailure(outcome.route),
      })
    })
  }

  /** Closes idle connections to an endpoint, and others after their request. */
  retire(endpoint: EndpointAddress): void {
    this.#connections.retire(endpoint)
  }

  close(): void {
    this.#connections.close()
  }

  async #observed(request: ClientRequest, run: (outcome: Outcome) => Promise<void> | void): Promise<void> {
    const begun = performance.now()
    const outcome: Outcome = { route: '', status: 0 }
    this.metrics.active++
    try {
      await run(outcome)
    } finally {
      this.metrics.active--
      const ms = performance.now() - begun
      this.metrics.observe(outcome.route, outcome.status, ms / 1000)
      this.#options.accessLog?.(accessLine(request, outcome, ms))
    }
  }

  #respond(response: ClientResponse, { status, sentence, headers, route }: OwnResponse, outcome: Outcome): void {
    outcome.status = status
    outcome.route = route?.action.name ?? ''
    const own = { ...headers }
    changeHeaders(own, route?.action.responseHeaders)
    respondText(response, status, sentence, own)
  }

  async #exchange(
    request: ClientRequest,
    response: ClientResponse,
    routed: RoutedExchange,
    outcome: Outcome,
  ): Promise<void> {
    const { action } = routed.route
    const canceling = new AbortController()
    response.once('close', () => response.writableFinished || canceling.abort(new Error('the client has gone')))
    const timer = this.#timer(routed, canceling)
    const whole = deadline(action.timeouts?.requestMs, canceling)
    try {
      const answer = await this.#send(request, routed, canceling.signal)
      // The route's own time is for the whole response.
      if (!action.timeouts?.backendMs) clearTimeout(timer)
      outcome.status = answer.status
      await respondWith(response, answer, (headers) => {
        changeHeaders(headers, action.responseHeaders)
        changeHeaders(headers, routed.chosen.responseHeaders)
      })
    } catch (error) {
      // An incomplete response was closed by `respondWith`.
      if (response.headersSent || response.destroyed) return
      const { status, sentence } = failureOf(error, routed, canceling.signal)
      outcome.status = status
      respondText(response, status, sentence)
    } finally {
      clearTimeout(timer)
      clearTimeout(whole)
    }
  }

  #timer({ route, target, head }: RoutedExchange, canceling: AbortController): NodeJS.Timeout | undefined {
    const { timeouts } = route.action
    const isGrpc = target.protocol === 'h2c' && (head.header('content-type')?.startsWith('application/grpc') ?? false)
    const usual = isGrpc || timeouts?.requestMs !== undefined ? undefined : this.#options.limits.responseMs
    return deadline(timeouts?.backendMs ?? usual, canceling)
  }

  #send(request: ClientRequest, routed: RoutedExchange, signal: AbortSignal): Promise<BackendResponse> {
    const { route, path, authority, headers, target, endpoints, head } = routed
    const { random } = this.#options
    const mirrors = (route.action.mirrors ?? []).filter(({ share }) => share > 0 && random() < share)
    const given: Readable | undefined = hasBody(request) ? request : undefined
    const { body, copies } = copyBody(given, mirrors.length)
    const sent = { method: head.method, path, authority, headers, body, signal }
    for (const [at, { backend }] of mirrors.entries()) {
      const mirrored = this.#options.backends.resolve(backend)
      if ('fault' in mirrored) continue
      const copy = { ...sent, headers: { ...headers }, body: copies[at], signal: AbortSignal.timeout(mirrorMs) }
      this.#connections
        .send(mirrored, this.#balancer.endpointsOf(mirrored), copy, () => {})
        .then(
          (answer) => answer.body.on('error', () => {}).resume(),
          () => {},
        )
    }
    return this.#connections.send(target, endpoints, sent, () => this.metrics.countConnectFailure(route.action.name))
  }
}

/** The time for a mirrored request, in ms. */
const mirrorMs = 60_000

function deadline(ms: number | undefined, canceling: AbortController): NodeJS.Timeout | undefined {
  if (!ms) return undefined
  return setTimeout(() => canceling.abort(new TimedOut(`within ${ms / 1000} s`)), ms)
}

function failureOf(
  error: unknown,
  { target, route }: RoutedExchange,
  { aborted, reason }: AbortSignal,
): { readonly status: number; readonly sentence: string } {
  if (aborted && reason instanceof TimedOut)
    return {
      status: 504,
      sentence:
        `Service ${target.name} did not respond ${reason.message}: check its pods, or the timeouts of ` +
        route.action.name,
    }
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof NotConnected)
    return { status: 502, sentence: `no endpoint of Service ${target.name} accepts connections: ${message}` }
  return { status: 502, sentence: `Service ${target.name} did not complete the response: ${message}` }
}

function accessLine(request: ClientRequest, { route, status }: Outcome, ms: number): string {
  const authority = request.headers[':authority'] ?? request.headers.host ?? '-'
  const address = request.socket?.remoteAddress ?? '-'
  const text = `${address} ${request.method} ${authority}${request.url} ${status} ${ms.toFixed(1)}ms ${route || '-'}`
  return text.replace(/\p{Cc}/gu, '?')
}
