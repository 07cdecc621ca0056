/** A gRPC server on a unix socket, with messages of protobuf-es. */
import { chmodSync, lstatSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type DescService,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf'
import {
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServerOptions,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
} from '@grpc/grpc-js'
import { bufferOf } from '../encoding/buffer-of.ts'
import { messageOf } from '../message-of.ts'
import { grpcStatusOf } from './grpc-error.ts'
import { pathOf } from './socket-client.ts'

/** The functions that answer the methods of a service. `signal` is aborted when the client cancels the call. */
export type ServiceHandlers<Service extends DescService> = {
  readonly [Name in keyof Service['method']]: Service['method'][Name] extends DescMethodUnary<infer I, infer O>
    ? UnaryHandler<I, O>
    : Service['method'][Name] extends DescMethodServerStreaming<infer I, infer O>
      ? StreamHandler<I, O>
      : never
}

type UnaryHandler<I extends DescMessage, O extends DescMessage> = (
  request: MessageShape<I>,
  signal: AbortSignal,
) => Promise<MessageInitShape<O>> | MessageInitShape<O>

type StreamHandler<I extends DescMessage, O extends DescMessage> = (
  request: MessageShape<I>,
  signal: AbortSignal,
) => AsyncIterable<MessageInitShape<O>>

type Unary = ServerUnaryCall<MessageShape<DescMessage>, MessageShape<DescMessage>>
type Streaming = ServerWritableStream<MessageShape<DescMessage>, MessageShape<DescMessage>>

export class SocketServer {
  readonly #server: Server
  #path: string | undefined

  constructor(options: ServerOptions = {}) {
    this.#server = new Server(options)
  }

  /** An error that a handler throws is answered with the code that its `code` names, `NotFound` for example. */
  add<Service extends DescService>(service: Service, handlers: ServiceHandlers<Service>): void {
    const definitions: Record<string, MethodDefinition<MessageShape<DescMessage>, MessageShape<DescMessage>>> = {}
    const implementation: Record<string, (call: never, done: never) => void> = {}
    for (const method of service.methods) {
      const handler = handlers[method.localName as keyof typeof handlers] as never
      definitions[method.localName] = definitionOf(method)
      implementation[method.localName] =
        method.methodKind === 'unary' ? unary(method, handler) : streaming(method, handler)
    }
    this.#server.addService(definitions, implementation as never)
  }

  /**
   * Listens on a path. Replaces the socket of a server that no longer runs; rejects if one does. Only the user and the
   * group of this process may connect.
   */
  async listen(path: string): Promise<void> {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSocket()) {
      if (await isServed(path)) throw new Error(`listen unix ${path}: bind: address already in use`)
      rmSync(path, { force: true })
    }
    await new Promise<void>((resolve, reject) => {
      this.#server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) =>
        error ? reject(error) : resolve(),
      )
    })
    chmodSync(path, 0o660)
    this.#path = path
  }

  /** Cancels calls in flight, and removes the socket. */
  stop(): void {
    this.#server.forceShutdown()
    if (this.#path) rmSync(this.#path, { force: true })
  }
}

const definitionOf = (method: DescMethod): MethodDefinition<MessageShape<DescMessage>, MessageShape<DescMessage>> => ({
  path: pathOf(method),
  requestStream: false,
  responseStream: method.methodKind === 'server_streaming',
  requestSerialize: (message) => bufferOf(toBinary(method.input, message)),
  requestDeserialize: (bytes) => fromBinary(method.input, bytes),
  responseSerialize: (message) => bufferOf(toBinary(method.output, message)),
  responseDeserialize: (bytes) => fromBinary(method.output, bytes),
})

const statusOf = (error: unknown) => ({ code: grpcStatusOf(error), details: messageOf(error) })

function unary({ output }: DescMethod, handler: UnaryHandler<DescMessage, DescMessage>) {
  return (call: Unary, done: sendUnaryData<MessageShape<DescMessage>>): void => {
    const answer = async (): Promise<MessageInitShape<DescMessage>> => handler(call.request, signalOf(call))
    answer().then(
      (response) => done(null, create(output, response)),
      (error) => done(statusOf(error)),
    )
  }
}

function streaming({ output }: DescMethod, handler: StreamHandler<DescMessage, DescMessage>) {
  return (call: Streaming): void => {
    const send = async (): Promise<void> => {
      for await (const message of handler(call.request, signalOf(call))) {
        if (call.cancelled) return
        if (!call.write(create(output, message))) await new Promise((resolve) => call.once('drain', resolve))
      }
      call.end()
    }
    send().catch((error) => call.emit('error', statusOf(error)))
  }
}

function signalOf(call: Unary | Streaming): AbortSignal {
  const controller = new AbortController()
  if (call.cancelled) controller.abort()
  call.on('cancelled', () => controller.abort())
  return controller.signal
}

/** Resolves with true if a server accepts connections on the socket. */
const isServed = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
