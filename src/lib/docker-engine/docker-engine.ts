/** A client of the API of Docker engines, over a unix socket, a pipe of Windows, or TCP with or without TLS. */
import { Agent, type ClientRequest, type IncomingMessage, request as plainRequest } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import type { Duplex, Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { messageOf } from '../message-of.ts'
import type { EngineAddress } from './address.ts'
import { EngineError, messageIn } from './engine-error.ts'

/** The newest version of the API whose behaviour is known, and the oldest that has all that is used. */
const newestVersion = 47
const oldestVersion = 40

export interface EngineRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  /** Without the version: `/containers/json`. */
  readonly path: string
  /** Undefined parameters are left out; objects are sent as JSON. */
  readonly query?: Readonly<Record<string, string | number | boolean | object | undefined>>
  /** Sent as JSON, or as it is. */
  readonly body?: object | Buffer | Readable
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export class DockerEngine {
  readonly address: EngineAddress
  readonly #agent: Agent | TlsAgent
  #version: Promise<number> | undefined

  constructor(address: EngineAddress) {
    this.address = address
    this.#agent = address.isTls ? new TlsAgent({ keepAlive: true }) : new Agent({ keepAlive: true })
  }

  /** The minor version of the API that client and engine know: 41 for 1.41. */
  version(): Promise<number> {
    this.#version ??= this.#negotiate().catch((error) => {
      this.#version = undefined
      throw error
    })
    return this.#version
  }

  /** Resolves with the decoded body; undefined without one. Rejects with an EngineError for an answer from 400 on. */
  async json<Value = undefined>(request: EngineRequest): Promise<Value> {
    const response = await this.stream(request)
    const body = await text(response)
    return (body === '' ? undefined : JSON.parse(body)) as Value
  }

  /** Resolves with the answer, whose body must be read or destroyed. Rejects as `json`. */
  async stream(request: EngineRequest): Promise<IncomingMessage> {
    const response = await this.#answer(this.#send(request, `/v1.${await this.version()}`))
    if ((response.statusCode ?? 0) < 400) return response
    throw new EngineError(response.statusCode ?? 0, messageIn(await text(response)))
  }

  /** Resolves with a connection that the engine has made a stream of both directions. Rejects as `json`. */
  async hijack(request: EngineRequest): Promise<Duplex> {
    const upgrade = { connection: 'Upgrade', upgrade: 'tcp' }
    const prefix = `/v1.${await this.version()}`
    const sent = this.#send({ method: 'POST', ...request, headers: { ...request.headers, ...upgrade } }, prefix, false)
    const { promise, resolve, reject } = Promise.withResolvers<Duplex>()
    sent.once('upgrade', (_, socket: Duplex, head: Buffer) => {
      if (head.length > 0) socket.unshift(head)
      resolve(socket)
    })
    this.#answer(sent)
      .then(async (response) => reject(new EngineError(response.statusCode ?? 0, messageIn(await text(response)))))
      .catch(reject)
    return promise
  }

  /** Ends connections that wait for requests. */
  close(): void {
    this.#agent.destroy()
  }

  async #negotiate(): Promise<number> {
    const response = await this.#answer(this.#send({ path: '/_ping' }, ''))
    await buffer(response)
    if (response.statusCode !== 200)
      throw new EngineError(response.statusCode ?? 0, `${this.address.text} does not answer as a Docker engine`)
    const [, minor = '0'] = /^1\.(\d+)$/.exec(String(response.headers['api-version'] ?? '')) ?? []
    if (Number(minor) < oldestVersion)
      throw new Error(`the Docker engine at ${this.address.text} is too old: version 19.03 or a later one is needed`)
    return Math.min(Number(minor), newestVersion)
  }

  #send({ method = 'GET', path, query, body, headers, signal }: EngineRequest, prefix: string, isPooled = true) {
    const { target, isTls } = this.address
    const isRaw = body === undefined || Buffer.isBuffer(body) || 'pipe' in body
    const content = isRaw ? body : Buffer.from(JSON.stringify(body))
    const sent = (isTls ? tlsRequest : plainRequest)({
      ...target,
      method,
      path: prefix + path + queryText(query),
      headers: {
        host: 'docker',
        ...(!isRaw && { 'content-type': 'application/json' }),
        ...(Buffer.isBuffer(content) && { 'content-length': String(content.length) }),
        ...headers,
      },
      agent: isPooled ? this.#agent : false,
      ...(signal && { signal }),
    })
    if (content === undefined || Buffer.isBuffer(content)) sent.end(content)
    else (content as Readable).pipe(sent)
    return sent
  }

  #answer(sent: ClientRequest): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      sent.once('response', resolve)
      sent.once('error', (error) =>
        reject(
          new Error(
            `the Docker engine at ${this.address.text} does not answer (${messageOf(error)}): start it, or set ` +
              'DOCKER_HOST to its address',
            { cause: error },
          ),
        ),
      )
    })
  }
}

function queryText(query: EngineRequest['query'] = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) parameters.append(name, typeof value === 'object' ? JSON.stringify(value) : String(value))
  return parameters.size === 0 ? '' : `?${parameters}`
}
