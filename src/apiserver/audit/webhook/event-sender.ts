/** Sends lists of events to a webhook. Each call has a timeout; failed calls are retried with back-off. */
import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { authorizationOf, type Connection } from '../../../kubeconfig/connection.ts'

export interface EventSenderOptions {
  /** The delay before the first retry, in ms. */
  readonly initialBackoffMs: number
  /** The timeout of one call, in ms. */
  readonly timeoutMs?: number
  readonly random?: () => number
}

const defaultTimeoutMs = 30_000
/** The total number of calls, as the steps of upstream's back-off. */
const maxCalls = 5
const factor = 1.5
const jitter = 0.2
const idleMs = 30_000
const maxConnections = 16
/** The response body is not used. A larger one aborts the call. */
const maxResponseBytes = 64 * 1024

export class EventSender {
  readonly #connection: Connection
  readonly #authorization: (() => Promise<string>) | undefined
  readonly #options: EventSenderOptions
  readonly #agent: HttpsAgent | HttpAgent
  readonly #stopped = new AbortController()

  constructor(connection: Connection, options: EventSenderOptions) {
    this.#connection = connection
    this.#authorization = authorizationOf(connection)
    this.#options = options
    const pool = { keepAlive: true, timeout: idleMs, maxSockets: maxConnections }
    this.#agent = connection.url.protocol === 'https:' ? new HttpsAgent(pool) : new HttpAgent(pool)
  }

  /** `events` are JSON without opening braces. Rejects with the error of the last call. */
  async send(events: readonly string[]): Promise<void> {
    const items = events.map((event) => `{${event}`).join(',')
    const body = Buffer.from(`{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[${items}]}`)
    const { initialBackoffMs, random = Math.random } = this.#options
    let wait = initialBackoffMs
    for (let call = 1; ; call++) {
      try {
        return await this.#post(body)
      } catch (error) {
        if (call === maxCalls || this.#stopped.signal.aborted) throw error
        await delay(wait * (1 + jitter * random()), undefined, { signal: this.#stopped.signal, ref: false }).catch(
          () => {
            throw error
          },
        )
        wait *= factor
      }
    }
  }

  /** Aborts pending calls. */
  stop(): void {
    this.#stopped.abort()
    this.#agent.destroy()
  }

  async #post(body: Buffer): Promise<void> {
    const { url, ca, cert, key, serverName, insecure } = this.#connection
    const { timeoutMs = defaultTimeoutMs } = this.#options
    const query = new URLSearchParams(url.search)
    query.set('timeout', `${Math.ceil(timeoutMs / 1000)}s`)
    const authorization = await this.#authorization?.()
    const tls = { ca, cert, key, ...(serverName && { servername: serverName }), rejectUnauthorized: !insecure }
    return new Promise((resolve, reject) => {
      const options = {
        agent: this.#agent,
        method: 'POST',
        host: url.hostname.replace(/^\[|\]$/g, ''),
        port: url.port || undefined,
        path: `${url.pathname}?${query}`,
        headers: {
          host: url.host,
          accept: 'application/json, */*',
          'content-type': 'application/json',
          'content-length': body.length,
          ...(authorization && { authorization }),
        },
      }
      const sent = url.protocol === 'https:' ? httpsRequest({ ...options, ...tls }) : httpRequest(options)
      const fail = (why: string): void => {
        reject(new Error(`Post ${JSON.stringify(url.href)}: ${why}`))
        sent.destroy()
      }
      const deadline = setTimeout(() => fail('context deadline exceeded'), timeoutMs)
      deadline.unref()
      sent.on('close', () => {
        clearTimeout(deadline)
        reject(new Error(`Post ${JSON.stringify(url.href)}: EOF`))
      })
      sent.on('error', (error) => fail(error.message))
      sent.on('response', (response) => {
        const { statusCode = 0 } = response
        let size = 0
        response.on('data', (piece: Buffer) => {
          size += piece.length
          if (size > maxResponseBytes) fail(`the answer is larger than ${maxResponseBytes} bytes`)
        })
        response.on('error', (error) => fail(error.message))
        response.on('end', () =>
          statusCode >= 200 && statusCode < 300 ? resolve() : fail(`the server answered ${statusCode}`),
        )
      })
      sent.end(body)
    })
  }
}
