/**
 * The kubelets' HTTPS server: one for all simulated nodes of a process. Paths name the pod. For requests about a node,
 * the node is taken from the header that API servers set when they proxy a request (`X-Forwarded-Uri:
 * /api/v1/nodes/NAME/proxy/…`).
 */

import type { X509Certificate } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Pod } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { writeJson } from '../../lib/exact-json.ts'
import type { NodeAgent } from '../nodes/agent.ts'
import { CallerReview, callerOf, certificateOf, signedBy } from './callers.ts'
import { logOptions, NoLogError } from './logs.ts'
import { type LivePod, sendLog, serveAttach, serveExec, servePortForward } from './pod-streams.ts'

export interface KubeletServerOptions {
  readonly client: RestClient
  /** The address to listen on; port 0 is any free port. */
  readonly address: string
  readonly port: number
  readonly tls: { readonly cert: string; readonly key: string }
  /** A PEM bundle of CAs for client certificates. */
  readonly clientCA: string
  /** The same for front proxies; empty if there are none. */
  readonly frontProxyCA: string
  readonly agent: (name: string) => NodeAgent | undefined
  readonly pods: PodSource
  /** Other pages about a node; undefined for an unknown path. */
  readonly pages: (path: string, agent: NodeAgent) => Page | undefined
  /** Answers a request of an aggregated API, which the API server has authorized. */
  readonly api: (path: string, query: URLSearchParams, accept: string) => ApiAnswer
  readonly log: (line: string) => void
}

export interface PodSource {
  find(namespace: string, name: string): Pod | undefined
  onChange(uid: string, callback: () => void): () => void
}

export interface Page {
  readonly type: string
  readonly text: string
}

export interface ApiAnswer {
  readonly status: number
  readonly body: object
}

/** An error with an HTTP status, as of a kubelet. */
class HttpError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

interface Call {
  readonly path: string
  readonly query: URLSearchParams
}

export class KubeletServer {
  readonly #options: KubeletServerOptions
  readonly #server: Server
  readonly #sockets = new Set<Duplex>()
  readonly #review: CallerReview

  constructor(options: KubeletServerOptions) {
    this.#options = options
    this.#review = new CallerReview(options.client)
    const { tls, clientCA, frontProxyCA } = options
    this.#server = createServer(
      { ...tls, ca: [clientCA, frontProxyCA].filter(Boolean), requestCert: true, rejectUnauthorized: false },
      (request, response) => {
        this.#answer(request, response).catch((error) => sendError(response, error))
      },
    )
    this.#server.on('upgrade', (request, socket, head) => {
      this.#upgrade(request, socket, head).catch((error) => sendUpgradeError(socket, error))
    })
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
  }

  /** Resolves with the port. Rejects if it cannot listen on the address. */
  async listen(): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#server.once('error', reject)
    this.#server.listen(this.#options.port, this.#options.address, resolve)
    await promise
    this.#server.off('error', reject)
    return (this.#server.address() as AddressInfo).port
  }

  /** Stops the server and all connections. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = callOf(request)
    const certificate = certificateOf(request)
    if (call.path === '/healthz') {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('ok')
      return
    }
    if (call.path === '/apis' || call.path.startsWith('/apis/') || call.path.startsWith('/openapi')) {
      if (!certificate || !this.#isFrontProxy(certificate)) throw new HttpError(401, 'Unauthorized')
      const { status, body } = this.#options.api(call.path, call.query, request.headers.accept ?? '')
      response.writeHead(status, { 'content-type': 'application/json' }).end(writeJson(body))
      return
    }
    const [, what = '', namespace = '', name = '', container = ''] = call.path.split('/').map(decodeURIComponent)
    if (what === 'containerLogs') {
      const pod = this.#pod(namespace, name)
      await this.#authorize(request, certificate, 'proxy', pod.current()!.spec?.nodeName ?? '')
      sendLog(response, pod, container, logOptions(call.query, Date.now()))
      return
    }
    const agent = this.#nodeOf(request)
    await this.#authorize(
      request,
      certificate,
      what === 'stats' ? 'stats' : what === 'metrics' ? 'metrics' : 'proxy',
      agent.name,
    )
    const page = this.#options.pages(call.path, agent)
    if (!page) throw new HttpError(404, '404 page not found')
    response.writeHead(200, { 'content-type': page.type }).end(page.text)
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy())
    const { path, query } = callOf(request)
    const [, what = '', namespace = '', name = '', container = ''] = path.split('/').map(decodeURIComponent)
    const pod = this.#pod(namespace, name)
    const now = pod.current()!
    await this.#authorize(request, certificateOf(request), 'proxy', now.spec?.nodeName ?? '')
    const isServed =
      what === 'exec'
        ? await serveExec(request, socket, head, now, container, query)
        : what === 'attach'
          ? await serveAttach(request, socket, head, pod, container, query)
          : what === 'portForward' && servePortForward(request, socket, head, now)
    if (!isServed)
      throw new HttpError(
        what === 'exec' || what === 'attach' || what === 'portForward' ? 400 : 404,
        'unable to upgrade: unsupported protocol',
      )
  }

  #pod(namespace: string, name: string): LivePod {
    const { pods, agent } = this.#options
    const found = pods.find(namespace, name)
    const node = agent(found?.spec?.nodeName ?? '')
    if (!found || !node) throw new HttpError(404, `pod ${JSON.stringify(name)} not found\n`)
    if (!node.isWorking)
      throw new HttpError(
        500,
        `the container runtime of ${node.name} is down: the node has the simulated failure ${node.failure}`,
      )
    const { uid = '' } = found.metadata
    return {
      current: () => {
        const now = pods.find(namespace, name)
        return now?.metadata.uid === uid ? now : undefined
      },
      onChange: (callback) => pods.onChange(uid, callback),
    }
  }

  #nodeOf({ headers }: IncomingMessage): NodeAgent {
    const uri = headers['x-forwarded-uri']
    const [, name] = /^\/api\/v1\/nodes\/([^/]+)\/proxy/.exec(typeof uri === 'string' ? uri : '') ?? []
    const agent =
      name &&
      this.#options.agent(
        decodeURIComponent(name)
          .replace(/^https?:/, '')
          .replace(/:\d*$/, ''),
      )
    if (!agent)
      throw new HttpError(
        404,
        'request a node through /api/v1/nodes/NAME/proxy of the API server: many nodes share this address',
      )
    return agent
  }

  #isFrontProxy(certificate: X509Certificate): boolean {
    const { frontProxyCA } = this.#options
    return frontProxyCA !== '' && signedBy(certificate, frontProxyCA)
  }

  async #authorize(
    request: IncomingMessage,
    certificate: X509Certificate | undefined,
    subresource: string,
    node: string,
  ): Promise<void> {
    if (!certificate || !signedBy(certificate, this.#options.clientCA)) throw new HttpError(401, 'Unauthorized')
    const caller = callerOf(certificate)
    const verb = request.method === 'GET' ? 'get' : 'create'
    if (!(await this.#review.isAllowed(caller, verb, subresource, node)))
      throw new HttpError(
        403,
        `Forbidden (user=${caller.name}, verb=${verb}, resource=nodes, subresource(s)=[${subresource}])`,
      )
  }
}

function callOf({ url = '/' }: IncomingMessage): Call {
  const at = url.indexOf('?')
  return at < 0
    ? { path: url, query: new URLSearchParams() }
    : { path: url.slice(0, at), query: new URLSearchParams(url.slice(at + 1)) }
}

const statusOf = (error: unknown): number =>
  error instanceof HttpError ? error.status : error instanceof NoLogError ? 400 : 500
const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent) response.destroy()
  else response.writeHead(statusOf(error), { 'content-type': 'text/plain; charset=utf-8' }).end(textOf(error))
}

function sendUpgradeError(socket: Duplex, error: unknown): void {
  const text = textOf(error)
  const reason =
    { 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found' }[statusOf(error)] ??
    'Internal Server Error'
  socket.end(
    `HTTP/1.1 ${statusOf(error)} ${reason}\r\nContent-Type: text/plain\r\nContent-Length: ` +
      `${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
  )
}
