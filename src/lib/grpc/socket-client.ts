/** A gRPC client for a service on a unix socket, with messages of protobuf-es. */
import {
  create,
  type DescMessage,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf'
import { Client, type ClientOptions, credentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import { bufferOf } from '../encoding/buffer-of.ts'
import { GrpcError } from './grpc-error.ts'

export interface CallOptions {
  /** Time limit of the call in ms; no limit without it. */
  readonly timeoutMs?: number
  /** Cancels the call. */
  readonly signal?: AbortSignal
  /** Sent as metadata. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A server on this machine is soon back: the defaults, 1 s to 2 minutes, are for networks. As upstream's kubelet. */
const reconnecting: ClientOptions = {
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 3_000,
}

export class SocketClient {
  readonly #client: Client

  /**
   * `endpoint` is for example `unix:///run/containerd/containerd.sock`; a path that begins with @ is in the abstract
   * namespace of Linux.
   */
  constructor(endpoint: string, options: ClientOptions = {}) {
    const target = endpoint.replace(/^unix:\/\/\/?@/, 'unix-abstract:')
    this.#client = new Client(target, credentials.createInsecure(), { ...reconnecting, ...options })
  }

  /**
   * Calls a method. Rejects with a GrpcError.
   * @example await client.call(RuntimeService.method.version, {}, { timeoutMs: 10_000 })
   */
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    { timeoutMs, signal, headers }: CallOptions = {},
  ): Promise<MessageShape<O>> {
    return new Promise((resolve, reject) => {
      const call = this.#client.makeUnaryRequest<MessageShape<I>, MessageShape<O>>(
        pathOf(method),
        (message) => bufferOf(toBinary(method.input, message)),
        (bytes) => fromBinary(method.output, bytes),
        create(method.input, request),
        metadataOf(headers),
        deadlineIn(timeoutMs),
        (error: ServiceError | null, value?: MessageShape<O>) => {
          signal?.removeEventListener('abort', cancel)
          if (error) reject(new GrpcError(error))
          else resolve(value!)
        },
      )
      const cancel = (): void => call.cancel()
      if (signal?.aborted) cancel()
      else signal?.addEventListener('abort', cancel, { once: true })
    })
  }

  /**
   * Calls a method that returns a stream of messages. It ends when the server ends it, and throws a GrpcError when the
   * call fails. Leaving the loop cancels the call.
   */
  async *stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    request: MessageInitShape<I>,
    { timeoutMs, signal, headers }: CallOptions = {},
  ): AsyncGenerator<MessageShape<O>> {
    const call = this.#client.makeServerStreamRequest<MessageShape<I>, MessageShape<O>>(
      pathOf(method),
      (message) => bufferOf(toBinary(method.input, message)),
      (bytes) => fromBinary(method.output, bytes),
      create(method.input, request),
      metadataOf(headers),
      deadlineIn(timeoutMs),
    )
    const cancel = (): void => call.cancel()
    signal?.addEventListener('abort', cancel, { once: true })
    if (signal?.aborted) cancel()
    try {
      for await (const message of call) yield message as MessageShape<O>
    } catch (error) {
      throw new GrpcError(error as ServiceError)
    } finally {
      signal?.removeEventListener('abort', cancel)
      cancel()
    }
  }

  close(): void {
    this.#client.close()
  }
}

/** Returns for example `/runtime.v1.RuntimeService/Version`. */
export const pathOf = ({ parent, name }: Pick<DescMethodUnary, 'parent' | 'name'>): string =>
  `/${parent.typeName}/${name}`

function metadataOf(headers: Readonly<Record<string, string>> = {}): Metadata {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
  return metadata
}

const deadlineIn = (timeoutMs: number | undefined): { deadline?: number } =>
  timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs }
