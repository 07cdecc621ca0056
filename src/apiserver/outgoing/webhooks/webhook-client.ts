/**
 * Calls one webhook: a JSON document is sent, another one comes back. Nothing of the client whose request it is for is
 * passed on. What goes wrong is told in the words of Go's client, which people search for.
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
  /** How long a call may take as a whole, ms. */
  readonly timeoutMs: number
  /** Larger answers are not taken. Bytes. */
  readonly mostBytes?: number
  /** Who the server is to the webhook, and what else is said about the connection. */
  readonly tls?: ConnectionOptions
  /** The header `authorization` of a call. */
  readonly authorization?: () => Promise<string>
}

/** Who waits for what comes of a call. */
interface Waiting {
  /** Aborted when nobody waits any more. */
  readonly signal: AbortSignal
  /** When that will be, on the clock of `performance`, if it is known. */
  readonly deadline?: number
}

/** What is said about the webhook is not enough to ask it. */
export class WebhookClientError extends Error {}

/** An answer that is none: the webhook, or what stands before it, has said no. */
export class WebhookAnswerError extends Error {
  readonly status: number
  /** After how long it has asked to be called again; undefined if it has not. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, status: number, retryAfterMs?: number) {
    super(message)
    this.status = status
    this.retryAfterMs = retryAfterMs
  }
}

/** Connections that rest are closed after this, so that none is used when the other side has given it up. */
const idleMs = 30_000
const defaultMostBytes = 64 * 1024 * 1024
/** Calls beyond these wait for one another. */
const mostConnections = 64

interface Call {
  readonly place: Place
  readonly tls: ConnectionOptions
  readonly url: URL
  readonly body: Buffer
  readonly authorization?: string
  /** When it is to be over, on the clock of `performance`. */
  readonly deadline: number
  readonly signal?: AbortSignal
  readonly fail: (why: string) => Error
}

export class WebhookClient {
  readonly #options: WebhookClientOptions
  readonly #config: WebhookConfig
  readonly #agent = new Agent({ keepAlive: true, timeout: idleMs, maxSockets: mostConnections, maxFreeSockets: 16 })
  #prepared: { readonly address: WebhookAddress; readonly tls: ConnectionOptions } | undefined

  constructor(config: WebhookConfig, options: WebhookClientOptions) {
    this.#config = config
    this.#options = options
  }

  /**
   * Resolves with the body of a good answer. Rejects with an Error that says why there is none; with a
   * WebhookClientError where none was asked for.
   */
  async post(body: Buffer, waiting?: Waiting): Promise<Buffer> {
    const { timeoutMs } = this.#options
    const now = performance.now()
    const deadline = now + timeoutMs
    const { address, tls } = this.#prepare()
    const url = new URL(address.url)
    const left = (waiting?.deadline ?? deadline) - now
    url.searchParams.set(
      'timeout',
      goDuration(left < timeoutMs ? Math.max(1, Math.ceil(left / 1000)) * 1000 : timeoutMs),
    )
    const fail = (why: string): Error => new Error(`Post ${JSON.stringify(shown(address, url))}: ${why}`)
    const place = await address
      .dial()
      .catch((error) => Promise.reject(fail(error instanceof Error ? error.message : String(error))))
    const authorization = await this.#options.authorization?.()
    return this.#send({ place, tls, url, body, authorization, fail, deadline, signal: waiting?.signal })
  }

  /** Keeps no connections any more. Calls under way go on. */
  retire(): void {
    const agent = this.#agent
    agent.maxFreeSockets = 0
    for (const socket of Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? [])) socket.destroy()
  }

  /** Ends all connections, and what is under way on them. */
  stop(): void {
    this.#agent.destroy()
  }

  #prepare(): { readonly address: WebhookAddress; readonly tls: ConnectionOptions } {
    if (this.#prepared) return this.#prepared
    const { caBundle } = this.#config
    const ca = caBundle ? Buffer.from(caBundle, 'base64') : undefined
    if (ca) checkBundle(ca)
    const address = webhookAddress(this.#config, this.#options.sources)
    // An address is no name that could be asked for; it is checked all the same.
    const servername = isIP(address.serverName) ? '' : address.serverName
    return (this.#prepared = { address, tls: { servername, ...(ca && { ca }), ...this.#options.tls } })
  }

  #send(call: Call, isRepeated = false): Promise<Buffer> {
    const { place, url, body, fail, signal } = call
    const { mostBytes = defaultMostBytes } = this.#options
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
        // The other side has given up a connection that rested, in the same moment.
        // A call whose time is up fails with the same code: it has been rejected, and a repeated one would have no
        // caller.
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
          if (size <= mostBytes) return
          reject(fail(`the answer is larger than ${mostBytes} bytes`))
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

/** What a connection that was given up fails with. */
const givenUp: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE'])

/** Only seconds are understood (RFC 9110 knows dates too), as Go's client does. */
const retryAfterMs = (header = ''): number | undefined => (/^\d+$/.test(header) ? Number(header) * 1000 : undefined)

/** Services have their port in what is told of them, always. */
const shown = ({ url: { port } }: WebhookAddress, { hostname, pathname, search, host }: URL): string =>
  `https://${hostname.endsWith('.svc') && !port ? `${hostname}:443` : host}${pathname}${search}`

function checkBundle(pem: Buffer): void {
  try {
    new X509Certificate(pem)
  } catch {
    throw new WebhookClientError('unable to load root certificates: unable to parse bytes as PEM block')
  }
}
