/**
 * Calls one webhook: sends a JSON document and returns the JSON document of the response. Nothing from the original
 * client's request is passed on. Errors have the messages of Go's client, which people search for.
 */
import { X509Certificate } from 'node:crypto'
import { Agent, request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { errorCode } from '../../../lib/explained-error.ts'
import { timerMs } from '../../../lib/flow/timer-ms.ts'
import { goDuration } from '../../../lib/go/go-duration.ts'
import { refuseUpgrade } from '../../../lib/refuse-upgrade.ts'
import type { ServiceSources } from '../index.ts'
import { addressOf, connectionError } from '../index.ts'
import { answerError } from './answer-error.ts'
import { type Place, type WebhookAddress, type WebhookConfig, webhookAddress } from './webhook-address.ts'

export interface WebhookClientOptions {
  readonly sources: ServiceSources
  /** The time limit for a whole call, in ms. */
  readonly timeoutMs: number
  /** The maximum size of a response, in bytes. */
  readonly maxBytes?: number
  /** The client certificate, and other TLS options of the connection. */
  readonly tls?: ConnectionOptions
  /** Returns the header `authorization` of a call. */
  readonly authorization?: () => Promise<string>
}

/** The caller's limits for a call. */
interface CallerLimits {
  /** Aborted when the caller no longer waits. */
  readonly signal: AbortSignal
  /** The time until which the caller waits, on the clock of `performance`, if known. */
  readonly deadline?: number
}

/** The webhook's configuration is invalid. */
export class WebhookClientError extends Error {}

/** The webhook, or a proxy in front of it, has responded with an error status. */
export class WebhookAnswerError extends Error {
  readonly status: number
  /** The Retry-After in ms; undefined if there is none. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, status: number, retryAfterMs?: number) {
    super(message)
    this.status = status
    this.retryAfterMs = retryAfterMs
  }
}

/** In ms. Idle connections are closed after this, to avoid using one that the other side has just closed. */
const idleMs = 30_000
const defaultMaxBytes = 64 * 1024 * 1024
/** More calls wait for a free connection. */
const maxConnections = 64

interface Call {
  readonly place: Place
  readonly tls: ConnectionOptions
  readonly url: URL
  readonly body: Buffer
  readonly authorization?: string
  /** The end of the time limit, on the clock of `performance`. */
  readonly deadline: number
  readonly signal?: AbortSignal
  readonly fail: (why: string) => Error
}

export class WebhookClient {
  readonly #options: WebhookClientOptions
  readonly #config: WebhookConfig
  readonly #agent = new Agent({ keepAlive: true, timeout: idleMs, maxSockets: maxConnections, maxFreeSockets: 16 })
  #prepared: { readonly address: WebhookAddress; readonly tls: ConnectionOptions } | undefined

  constructor(config: WebhookConfig, options: WebhookClientOptions) {
    this.#config = config
    this.#options = options
  }

  /**
   * Resolves with the body of a successful response. Rejects with an Error with the reason; with a WebhookClientError
   * if the webhook could not be called at all.
   */
  async post(body: Buffer, caller?: CallerLimits): Promise<Buffer> {
    const { timeoutMs } = this.#options
    const now = performance.now()
    const deadline = now + timeoutMs
    const { address, tls } = this.#prepare()
    const url = new URL(address.url)
    const remaining = (caller?.deadline ?? deadline) - now
    url.searchParams.set(
      'timeout',
      goDuration(remaining < timeoutMs ? Math.max(1, Math.ceil(remaining / 1000)) * 1000 : timeoutMs),
    )
    const fail = (why: string): Error => new Error(`Post ${JSON.stringify(shown(address, url))}: ${why}`)
    const place = await address
      .dial()
      .catch((error) => Promise.reject(fail(error instanceof Error ? error.message : String(error))))
    const authorization = await this.#options.authorization?.()
    return this.#send({ place, tls, url, body, authorization, fail, deadline, signal: caller?.signal })
  }

  /** Closes idle connections and reuses none. Calls in progress continue. */
  retire(): void {
    const agent = this.#agent
    agent.maxFreeSockets = 0
    for (const socket of Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? [])) socket.destroy()
  }

  /** Ends all connections, and the calls on them. */
  stop(): void {
    this.#agent.destroy()
  }

  #prepare(): { readonly address: WebhookAddress; readonly tls: ConnectionOptions } {
    if (this.#prepared) return this.#prepared
    const { caBundle } = this.#config
    const ca = caBundle ? Buffer.from(caBundle, 'base64') : undefined
    if (ca) checkBundle(ca)
    const address = webhookAddress(this.#config, this.#options.sources)
    // An IP address cannot be sent as server name; it is verified nevertheless.
    const servername = isIP(address.serverName) ? '' : address.serverName
    return (this.#prepared = { address, tls: { servername, ...(ca && { ca }), ...this.#options.tls } })
  }

  #send(call: Call, isRepeated = false): Promise<Buffer> {
    const { place, url, body, fail, signal } = call
    const { maxBytes = defaultMaxBytes } = this.#options
    const dialled = addressOf(place)
    return new Promise((resolve, reject) => {
      const sent = httpsRequest({
        ...call.tls,
        ...place,
        agent: this.#agent,
        method: 'POST',
        signal,
        path: url.pathname + url.search,
        headers: {
          host: url.host,
          accept: 'application/json',
          'content-type': 'application/json',
          'content-length': body.length,
          ...(call.authorization && { authorization: call.authorization }),
        },
      })
      refuseUpgrade(sent)
      let answered = false
      let isLate = false
      const expire = (): void => {
        isLate = true
        reject(fail('context deadline exceeded'))
        sent.destroy()
      }
      const deadline = setTimeout(expire, timerMs(call.deadline - performance.now()))
      sent.on('close', () => {
        clearTimeout(deadline)
        if (!answered) reject(fail('EOF'))
      })
      sent.on('error', (error) => {
        // The other side may close an idle connection at the same moment.
        // A call that has timed out fails with the same code: it has been rejected, and a retry would have no caller.
        const wasGivenUp =
          !isLate && sent.reusedSocket && !answered && !isRepeated && givenUp.has(errorCode(error) ?? '')
        if (wasGivenUp) resolve(this.#send(call, true))
        else reject(fail(signal?.aborted ? 'context canceled' : connectionError(error, dialled)))
      })
      sent.on('response', (response) => {
        answered = true
        const pieces: Buffer[] = []
        let size = 0
        response.on('data', (piece: Buffer) => {
          pieces.push(piece)
          size += piece.length
          if (size <= maxBytes) return
          reject(fail(`the answer is larger than ${maxBytes} bytes`))
          sent.destroy()
        })
        response.on('error', (error) => reject(fail(connectionError(error, dialled))))
        response.on('end', () => {
          const { statusCode = 0, headers } = response
          const answer = Buffer.concat(pieces)
          if (statusCode >= 200 && statusCode < 300) resolve(answer)
          else
            reject(
              new WebhookAnswerError(
                answerError(statusCode, answer, headers['content-type']),
                statusCode,
                retryAfterMs(headers['retry-after']),
              ),
            )
        })
      })
      sent.end(body)
    })
  }
}

/** Error codes of a connection that the other side has closed. */
const givenUp: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE'])

/** Supports seconds only (RFC 9110 also has dates), as Go's client. */
const retryAfterMs = (header = ''): number | undefined => (/^\d+$/.test(header) ? Number(header) * 1000 : undefined)

/** The URL in error messages, which always includes the port of a Service. */
const shown = ({ url: { port } }: WebhookAddress, { hostname, pathname, search, host }: URL): string =>
  `https://${hostname.endsWith('.svc') && !port ? `${hostname}:443` : host}${pathname}${search}`

function checkBundle(pem: Buffer): void {
  try {
    new X509Certificate(pem)
  } catch {
    throw new WebhookClientError('unable to load root certificates: unable to parse bytes as PEM block')
  }
}
