/**
 * Calls to a cluster of etcd: one connection at a time, to the first endpoint that serves. If it fails, the others are
 * tried in turn, with a back-off after each round.
 */
import { Maintenance, type StatusResponse } from '#protobuf/etcd-rpc_pb.js'
import { generatedMethod, type UnaryMethod } from '../messages/unary-method.ts'
import { type ConnectProblem, connectProblem, memberProblem, statusProblem } from './connect-problem.ts'
import { Connection } from './connection.ts'
import type { Endpoint } from './endpoint.ts'
import { EtcdError, isTemporary } from './etcd-error.ts'

export interface CallOptions {
  /** Time for all tries, in ms. */
  readonly timeoutMs: number
  /** True if the request may be executed twice. Others are sent again only if etcd certainly has not executed them. */
  readonly isSafe: boolean
}

export interface ChannelOptions {
  readonly endpoints: readonly Endpoint[]
  /** From 0 to 1. */
  readonly random: () => number
}

const connectMs = 2_000
const firstBackOffMs = 50
const maxBackOffMs = 1_000

export const statusMethod = generatedMethod(Maintenance.method.status)

/** Rejections that concern the request's time, not the member. */
const sameMember: readonly string[] = ['etcdserver: too many requests', 'etcdserver: leader changed']

export class Channel {
  readonly #options: ChannelOptions
  #next = 0
  #current: Connection | undefined
  #connecting: Promise<Connection> | undefined
  #clusterId: bigint | undefined
  #isClosed = false
  /** Why no endpoint can be used, as a sentence; undefined while one can, and before the first round of tries. */
  problem: string | undefined
  /** The status of the member as of the newest connection. */
  status: StatusResponse | undefined

  constructor(options: ChannelOptions) {
    this.#options = options
  }

  /** Calls a method. Rejects with EtcdError. */
  async call<Request, Response>(
    { path, encode, decode }: UnaryMethod<Request, Response>,
    request: Request,
    { timeoutMs, isSafe }: CallOptions,
  ): Promise<Response> {
    const message = encode(request)
    const deadline = performance.now() + timeoutMs
    for (;;) {
      const connection = this.#usable() ?? (await this.connection(deadline - performance.now()))
      try {
        return decode(await connection.unary(path, message, deadline - performance.now()))
      } catch (error) {
        if (!isTemporary(error)) throw error
        if (!sameMember.includes(error.message)) this.#leave(connection)
        const isRepeatable = isSafe || !error.mayHaveRun
        if (!isRepeatable || this.#isClosed || performance.now() + firstBackOffMs >= deadline) throw error
        await this.#pause(firstBackOffMs)
      }
    }
  }

  /** Returns a usable connection. Rejects with EtcdError if no endpoint can be used for `timeoutMs`. */
  async connection(timeoutMs: number): Promise<Connection> {
    const current = this.#usable()
    if (current) return current
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined
    })
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(this.#unreachable()), Math.max(0, timeoutMs))
    })
    try {
      return await Promise.race([this.#connecting, timeout])
    } finally {
      clearTimeout(timer)
    }
  }

  /** Ends all calls. */
  close(): void {
    this.#isClosed = true
    this.#current?.destroy()
  }

  #usable(): Connection | undefined {
    return this.#current?.isUsable ? this.#current : undefined
  }

  async #connect(): Promise<Connection> {
    const { endpoints } = this.#options
    for (let round = 0; ; round++) {
      const problems: ConnectProblem[] = []
      for (const _ of endpoints) {
        if (this.#isClosed) throw new EtcdError('Canceled', 'the store is closed', { mayHaveRun: false })
        const found = await this.#try(endpoints[this.#next % endpoints.length]!)
        if (found instanceof Connection) return found
        problems.push(found)
        this.#next++
      }
      this.problem = [...new Set(problems.map(({ sentence }) => sentence))].join('; ')
      // Wrong flags and files are reported at the start. Later, other servers may have been replaced.
      if (this.#clusterId === undefined && problems.every(({ isLasting }) => isLasting)) throw this.#unreachable()
      await this.#pause(Math.min(maxBackOffMs, firstBackOffMs * 2 ** round))
    }
  }

  /** Connects to an endpoint. */
  async #try(endpoint: Endpoint): Promise<Connection | ConnectProblem> {
    const connection = new Connection(endpoint, connectMs)
    try {
      await connection.opened
    } catch (error) {
      return connectProblem(endpoint.url, error)
    }
    let status: StatusResponse
    try {
      status = await statusOf(connection)
    } catch (error) {
      connection.destroy()
      return statusProblem(endpoint.url, error, connection.isHttp2)
    }
    const problem = memberProblem(endpoint.url, status, this.#clusterId)
    if (problem || this.#isClosed) {
      connection.destroy()
      return problem ?? { sentence: 'the store is closed', isLasting: false }
    }
    this.#clusterId = status.header?.clusterId
    this.status = status
    this.problem = undefined
    this.#current = connection
    return connection
  }

  /** Stops using a connection; the next endpoint is tried. */
  #leave(connection: Connection): void {
    connection.retire()
    if (this.#current !== connection) return
    this.#current = undefined
    this.#next++
  }

  #unreachable(): EtcdError {
    const { endpoints } = this.#options
    const urls = endpoints.map(({ url }) => url).join(', ')
    return new EtcdError('Unavailable', this.problem ?? `etcd at ${urls} did not answer in time`, { mayHaveRun: false })
  }

  /** Waits for half to all of `ms`. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, ms * (0.5 + this.#options.random() / 2)))
  }
}

async function statusOf(connection: Connection): Promise<StatusResponse> {
  const { path, encode, decode } = statusMethod
  return decode(await connection.unary(path, encode({}), connectMs))
}
