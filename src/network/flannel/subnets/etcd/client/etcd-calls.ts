/** Calls to etcd for subnets: the client of the store, with names and passwords of etcd's users. */
import type { DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf'
import { Auth } from '#protobuf/flannel-etcd_pb.js'
import { ExplainedError } from '../../../../../lib/explained-error.ts'
import { messageOf } from '../../../../../lib/message-of.ts'
import { Channel } from '../../../../../storage/etcd/client/channel.ts'
import type { RpcStream, StreamObserver } from '../../../../../storage/etcd/client/connection.ts'
import { type EtcdTls, endpointOf } from '../../../../../storage/etcd/client/endpoint.ts'
import { EtcdError } from '../../../../../storage/etcd/client/etcd-error.ts'
import { generatedMethod } from '../../../../../storage/etcd/messages/unary-method.ts'

export interface EtcdUser {
  readonly name: string
  readonly password: string
}

export interface EtcdCallsOptions {
  /** `http://127.0.0.1:2379`; the first one that serves is used. */
  readonly endpoints: readonly string[]
  readonly tls: EtcdTls
  /** For an etcd with `etcdctl auth enable`. */
  readonly user: EtcdUser | undefined
  /** From 0 to 1. */
  readonly random: () => number
}

interface Method<Input extends DescMessage, Output extends DescMessage> {
  readonly input: Input
  readonly output: Output
  readonly name: string
  readonly parent: { readonly name: string }
}

/** Time of a call with its retries, in ms. */
const timeoutMs = 10_000

/** Errors after which a new token may help. */
const tokenErrors: readonly string[] = [
  'etcdserver: invalid auth token',
  'etcdserver: user name is empty',
  'etcdserver: revision of auth store is old',
]

export class EtcdCalls {
  readonly #channel: Channel
  readonly #user: EtcdUser | undefined
  #token: string | undefined

  /** Throws an ExplainedError for an endpoint that is no URL. */
  constructor({ endpoints, tls, user, random }: EtcdCallsOptions) {
    this.#user = user
    const metadata = (): Record<string, string> => (this.#token === undefined ? {} : { token: this.#token })
    this.#channel = new Channel({ endpoints: endpoints.map((url) => ({ ...endpointOf(url, tls), metadata })), random })
  }

  /** Calls a method. Rejects with an EtcdError, or an ExplainedError with a remedy. */
  async call<Input extends DescMessage, Output extends DescMessage>(
    method: Method<Input, Output>,
    request: MessageInitShape<Input>,
    { isSafe }: { readonly isSafe: boolean },
  ): Promise<MessageShape<Output>> {
    return this.withToken(() => this.#call(method, request, isSafe))
  }

  /** Starts a call with messages in both directions. Rejects if no endpoint can be used. */
  async stream(method: Method<DescMessage, DescMessage>, observer: StreamObserver): Promise<RpcStream> {
    if (this.#user && this.#token === undefined) await this.#authenticate(this.#user)
    try {
      const connection = await this.#channel.connection(timeoutMs)
      return connection.stream(`/etcdserverpb.${method.parent.name}/${method.name}`, observer)
    } catch (error) {
      throw explained(error)
    }
  }

  /** Runs a task, and again with a new token if etcd does not accept the present one. */
  async withToken<T>(task: () => Promise<T>): Promise<T> {
    if (this.#user && this.#token === undefined) await this.#authenticate(this.#user)
    try {
      return await task()
    } catch (error) {
      if (!this.#user || !isTokenError(error)) throw explained(error)
      await this.#authenticate(this.#user)
      return task().catch((second) => {
        throw explained(second)
      })
    }
  }

  close(): void {
    this.#channel.close()
  }

  async #authenticate({ name, password }: EtcdUser): Promise<void> {
    this.#token = undefined
    try {
      const { token } = await this.#call(Auth.method.authenticate, { name, password }, true)
      this.#token = token
    } catch (error) {
      throw explained(error)
    }
  }

  #call<Input extends DescMessage, Output extends DescMessage>(
    { input, output, name, parent }: Method<Input, Output>,
    request: MessageInitShape<Input>,
    isSafe: boolean,
  ): Promise<MessageShape<Output>> {
    const method = generatedMethod({ input, output, name, parent: { typeName: `etcdserverpb.${parent.name}` } })
    return this.#channel.call(method, request, { timeoutMs, isSafe })
  }
}

const isTokenError = (error: unknown): boolean => tokenErrors.includes(messageOf(error))

const remedies: Readonly<Record<string, string>> = {
  'etcdserver: user name is empty': 'etcd wants a user: give --etcd-username and --etcd-password',
  'etcdserver: authentication failed, invalid user ID or password':
    'etcd rejects the user: correct --etcd-username and --etcd-password',
  'etcdserver: permission denied':
    "etcd's user may not read and write the network's keys: etcdctl role grant-permission ROLE --prefix=true " +
    'readwrite /coreos.com/network/ (the prefix is --etcd-prefix)',
  'etcdserver: authentication is not enabled':
    'etcd has no authentication: leave --etcd-username and --etcd-password out, or etcdctl auth enable',
}

/** The client's remedies name flags of the API server. */
function explained(error: unknown): Error {
  const message = messageOf(error)
  const remedy = remedies[message] ?? message.replaceAll('--etcd-servers', '--etcd-endpoints')
  if (remedy === message) return error instanceof Error ? error : new Error(message)
  if (!(error instanceof EtcdError)) return new ExplainedError(remedy, { cause: error })
  return new EtcdError(error.code, remedy, { mayHaveRun: error.mayHaveRun, cause: error })
}
