/** A client of the runtime's socket whose calls are observed, for metrics and the log. */
import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf'
import { type CallOptions, SocketClient } from '../../lib/grpc/socket-client.ts'

/** The largest message, as upstream's client: a node may have thousands of images. In bytes. */
const maxMessageBytes = 16 * 1024 * 1024

export interface ClientSettings {
  /** The time limit of most calls in ms (`runtimeRequestTimeout`). Default: two minutes. */
  readonly timeoutMs?: number
  /** Called with each unary call that has ended. `method` is its name in CRI. */
  readonly observe?: (call: {
    readonly method: string
    readonly request: object
    readonly ms: number
    readonly error: unknown
  }) => void
}

export class ObservedClient extends SocketClient {
  readonly #observe: NonNullable<ClientSettings['observe']>

  constructor(endpoint: string, { observe = () => {} }: ClientSettings = {}) {
    super(endpoint, { 'grpc.max_receive_message_length': maxMessageBytes })
    this.#observe = observe
  }

  override async call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    options: CallOptions = {},
  ): Promise<MessageShape<O>> {
    const began = performance.now()
    const ended = (error: unknown): void =>
      this.#observe({ method: method.name, request, ms: performance.now() - began, error })
    try {
      const response = await super.call(method, request, options)
      ended(undefined)
      return response
    } catch (error) {
      ended(error)
      throw error
    }
  }
}
