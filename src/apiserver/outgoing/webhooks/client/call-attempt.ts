/** One attempt of a call to a webhook: an HTTPS request and its response. */
import type { ClientRequest, IncomingMessage } from 'node:http'
import { type Agent, request as httpsRequest } from 'node:https'
import type { ConnectionOptions } from 'node:tls'
import { errorCode } from '../../../../lib/explained-error.ts'
import { timerMs } from '../../../../lib/flow/timer-ms.ts'
import { refuseUpgrade } from '../../../../lib/refuse-upgrade.ts'
import { addressOf, connectionError } from '../../index.ts'
import { webhookAnswerError } from './answer-error.ts'
import type { Place } from './webhook-address.ts'

export interface WebhookCall {
  readonly agent: Agent
  readonly place: Place
  readonly tls: ConnectionOptions
  readonly url: URL
  readonly body: Buffer
  readonly authorization?: string
  /** The maximum size of the response, in bytes. */
  readonly maxBytes: number
  /** The end of the time limit, on the clock of `performance`. */
  readonly deadline: number
  readonly signal?: AbortSignal
  /** Returns an error that contains the URL and the reason. */
  readonly errorOf: (why: string) => Error
}

/** Error codes of a connection that the other side has closed. */
const closedCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE'])

export class CallAttempt {
  readonly #call: WebhookCall
  readonly #answer = Promise.withResolvers<Buffer>()
  #hasResponse = false
  #hasExpired = false
  #usedClosedConnection = false

  constructor(call: WebhookCall) {
    this.#call = call
  }

  /** True if the call failed because the other side closed an idle connection at the moment when it was reused. */
  get usedClosedConnection(): boolean {
    return this.#usedClosedConnection
  }

  /** Resolves with the body of a successful response. */
  send(): Promise<Buffer> {
    const request = this.#request()
    refuseUpgrade(request)
    const deadline = setTimeout(() => this.#expire(request), timerMs(this.#call.deadline - performance.now()))
    request.on('close', () => {
      clearTimeout(deadline)
      if (!this.#hasResponse) this.#fail('EOF')
    })
    request.on('error', (error) => this.#failRequest(request, error))
    request.on('response', (response) => {
      this.#hasResponse = true
      this.#read(request, response)
    })
    request.end(this.#call.body)
    return this.#answer.promise
  }

  #request(): ClientRequest {
    const { tls, place, agent, signal, url, body, authorization } = this.#call
    return httpsRequest({
      ...tls,
      ...place,
      agent,
      method: 'POST',
      signal,
      path: url.pathname + url.search,
      headers: {
        host: url.host,
        accept: 'application/json',
        'content-type': 'application/json',
        'content-length': body.length,
        ...(authorization && { authorization }),
      },
    })
  }

  #expire(request: ClientRequest): void {
    this.#hasExpired = true
    this.#fail('context deadline exceeded')
    request.destroy()
  }

  #failRequest(request: ClientRequest, error: Error): void {
    // A call that has timed out fails with the same codes.
    this.#usedClosedConnection =
      request.reusedSocket && !this.#hasExpired && !this.#hasResponse && closedCodes.has(errorCode(error) ?? '')
    this.#fail(this.#call.signal?.aborted ? 'context canceled' : this.#connectionError(error))
  }

  #read(request: ClientRequest, response: IncomingMessage): void {
    const { maxBytes } = this.#call
    const pieces: Buffer[] = []
    let size = 0
    response.on('data', (piece: Buffer) => {
      pieces.push(piece)
      size += piece.length
      if (size <= maxBytes) return
      this.#fail(`the answer is larger than ${maxBytes} bytes`)
      request.destroy()
    })
    response.on('error', (error) => this.#fail(this.#connectionError(error)))
    response.on('end', () => this.#complete(response, Buffer.concat(pieces)))
  }

  #complete({ statusCode = 0, headers }: IncomingMessage, body: Buffer): void {
    if (statusCode >= 200 && statusCode < 300) this.#answer.resolve(body)
    else this.#answer.reject(webhookAnswerError(statusCode, headers, body))
  }

  #connectionError(error: Error): string {
    return connectionError(error, addressOf(this.#call.place))
  }

  #fail(why: string): void {
    this.#answer.reject(this.#call.errorOf(why))
  }
}
