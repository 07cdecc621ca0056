/**
 * Requests to registries: follows redirects without showing credentials to other hosts, and ends connections on which
 * nothing moves.
 */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Duplex, Readable } from 'node:stream'
import { isLoopbackHost } from '../../../../lib/loopback-host.ts'
import { messageOf } from '../../../../lib/message-of.ts'
import { connectOutside } from '../../../../lib/rootless/connect-outside.ts'
import { ImageError } from '../../image-error.ts'

export interface ExchangeRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** A function opens the content of every attempt. */
  readonly body?: string | Buffer | (() => Readable)
  readonly signal?: AbortSignal
}

export interface ExchangeOptions {
  /** Certificates of authorities (PEM) that are trusted beside the system's. */
  readonly ca?: string
  /** A connection without a byte for so long is ended, in ms. Default: 30,000. */
  readonly idleMs?: number
}

const defaultIdleMs = 30_000
const maxRedirects = 10
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Registries on loopback addresses are those of the machine, also in a user namespace. */
class PlainAgent extends HttpAgent {
  override createConnection(...given: Parameters<HttpAgent['createConnection']>): Duplex | null | undefined {
    const [{ host, port }] = given
    const outside = isLoopbackHost(host ?? '') ? connectOutside({ host: host!, port: Number(port) }) : undefined
    return outside ?? super.createConnection(...given)
  }
}

/** Connections to registries; `close` ends those that are idle. */
export class HttpExchange {
  readonly #agents: { readonly http: HttpAgent; readonly https: HttpsAgent }
  readonly #idleMs: number

  constructor({ ca, idleMs = defaultIdleMs }: ExchangeOptions = {}) {
    const common = { keepAlive: true, maxSockets: 8, proxyEnv: process.env }
    this.#agents = { http: new PlainAgent(common), https: new HttpsAgent({ ...common, ...(ca && { ca }) }) }
    this.#idleMs = idleMs
  }

  /** Resolves when headers have arrived, of any status. Rejects with an Unavailable error if there is no answer. */
  async send(request: ExchangeRequest): Promise<IncomingMessage> {
    let { url, headers } = request
    for (let redirected = 0; ; redirected++) {
      const response = await this.#exchange({ ...request, url, headers })
      const { location } = response.headers
      if (!redirects.has(response.statusCode ?? 0) || !location || !isRead(request)) return response
      response.resume()
      if (redirected === maxRedirects) throw unavailable(request, 'too many redirects')
      const target = targetOf(request, url, location)
      // The storage of blobs is often another service, which must not see tokens of the registry.
      if (target.origin !== new URL(url).origin) headers = withoutCredentials(headers)
      url = target.href
    }
  }

  close(): void {
    this.#agents.http.destroy()
    this.#agents.https.destroy()
  }

  #exchange(request: ExchangeRequest): Promise<IncomingMessage> {
    const { method, url, headers, body, signal } = request
    const isPlain = url.startsWith('http:')
    return new Promise((resolve, reject) => {
      const fail = (error: unknown): void => {
        reject(signal?.aborted ? canceled(signal) : unavailable(request, messageOf(error), error))
      }
      const options = { method, headers, signal, agent: isPlain ? this.#agents.http : this.#agents.https }
      const sent = (isPlain ? httpRequest : httpsRequest)(url, options)
      sent.setTimeout(this.#idleMs, () => sent.destroy(new Error(`nothing received for ${this.#idleMs} ms`)))
      sent.on('error', fail)
      sent.on('response', resolve)
      if (typeof body !== 'function') {
        sent.end(body)
        return
      }
      const content = body()
      content.on('error', (error) => sent.destroy(error))
      sent.on('close', () => content.destroy())
      content.pipe(sent)
    })
  }
}

const isRead = ({ method }: ExchangeRequest): boolean => method === 'GET' || method === 'HEAD'

function targetOf(request: ExchangeRequest, from: string, location: string): URL {
  const target = URL.parse(location, from)
  if (!target || !/^https?:$/.test(target.protocol)) throw unavailable(request, `redirected to ${location}`)
  if (from.startsWith('https:') && target.protocol === 'http:')
    throw unavailable(request, `redirected from HTTPS to ${target.origin}, which is not encrypted`)
  return target
}

const withoutCredentials = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !/^(authorization|cookie)$/i.test(name)))

/** The error of a caller that has left. */
export const canceled = (signal: AbortSignal): ImageError =>
  new ImageError('Canceled', 'context canceled', { cause: signal.reason })

/** The words of containerd for a request without an answer. */
function unavailable({ method, url }: ExchangeRequest, message: string, cause?: unknown): ImageError {
  const verb = `${method[0]}${method.slice(1).toLowerCase()}`
  return new ImageError('Unavailable', `failed to do request: ${verb} ${JSON.stringify(url)}: ${message}`, { cause })
}

/** Reads a short body. Rejects for more than `limit` bytes. */
export async function readBody(response: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > limit) {
      response.destroy()
      throw new ImageError('FailedPrecondition', `the registry's answer is longer than ${limit} bytes`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
