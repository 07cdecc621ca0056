/**
 * A proxy before a container runtime, as if the runtime were newer: it records requests, may change the runtime's
 * status, and sends the events of a test. It passes everything else on, byte for byte.
 */
import { dirname } from 'node:path'
import { create, type DescMethod, fromBinary, type Message, type MessageShape, toBinary } from '@bufbuild/protobuf'
import {
  Client,
  credentials,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
} from '@grpc/grpc-js'
import { ImageService } from '#protobuf/cri-images_pb.js'
import {
  ContainerEventResponseSchema,
  RuntimeService,
  type StatusResponse,
  StatusResponseSchema,
} from '#protobuf/cri-runtime_pb.js'
import { pathOf } from '../../../../src/lib/grpc/socket-client.ts'

type Request<M extends keyof typeof RuntimeService.method> = MessageShape<(typeof RuntimeService.method)[M]['input']>

export class CriProxy {
  readonly endpoint: string
  readonly #runtime: Client
  readonly #server = new Server({ 'grpc.max_receive_message_length': -1 })
  readonly #changeStatus: (status: StatusResponse) => void
  readonly #streams = new Set<ServerWritableStream<Buffer, Buffer>>()
  readonly #requests: { readonly method: DescMethod; readonly message: Message }[] = []

  private constructor(runtimeEndpoint: string, changeStatus: (status: StatusResponse) => void) {
    // In the folder of the runtime's socket, which names the cgroup of the test.
    this.endpoint = `unix://${dirname(runtimeEndpoint.replace(/^unix:\/\//, ''))}/proxy.sock`
    this.#runtime = new Client(runtimeEndpoint, credentials.createInsecure())
    this.#changeStatus = changeStatus
    for (const service of [RuntimeService, ImageService]) for (const method of service.methods) this.#serve(method)
  }

  static async start(
    runtimeEndpoint: string,
    changeStatus: (status: StatusResponse) => void = () => {},
  ): Promise<CriProxy> {
    const proxy = new CriProxy(runtimeEndpoint, changeStatus)
    await new Promise<void>((resolve, reject) =>
      proxy.#server.bindAsync(proxy.endpoint, ServerCredentials.createInsecure(), (error) =>
        error ? reject(error) : resolve(),
      ),
    )
    return proxy
  }

  stop(): void {
    this.#server.forceShutdown()
    this.#runtime.close()
  }

  /** The requests of a method so far. */
  requests<M extends keyof typeof RuntimeService.method>(method: M): readonly Request<M>[] {
    return this.#requests
      .filter((one) => one.method === RuntimeService.method[method])
      .map(({ message }) => message as Request<M>)
  }

  /** True while a kubelet waits for events. */
  get isFollowed(): boolean {
    return this.#streams.size > 0
  }

  /** Sends an event about a pod to all that wait for events. */
  sendEvent(labels: Readonly<Record<string, string>>): void {
    const event = create(ContainerEventResponseSchema, { podSandboxStatus: { labels } })
    for (const stream of this.#streams) stream.write(Buffer.from(toBinary(ContainerEventResponseSchema, event)))
  }

  /** Ends all streams of events, as a runtime does that stops. */
  endEvents(): void {
    for (const stream of this.#streams) stream.end()
    this.#streams.clear()
  }

  #serve(method: DescMethod): void {
    const path = pathOf(method)
    const isStream = method.methodKind === 'server_streaming'
    const definition = {
      path,
      requestStream: false as const,
      responseStream: isStream,
      requestSerialize: same,
      requestDeserialize: same,
      responseSerialize: same,
      responseDeserialize: same,
    }
    const record = (request: Buffer): void =>
      void this.#requests.push({ method, message: fromBinary(method.input, request) })
    this.#server.addService(
      { [method.name]: definition },
      {
        [method.name]: isStream
          ? (call: ServerWritableStream<Buffer, Buffer>): void => {
              this.#streams.add(call)
              call.on('cancelled', () => this.#streams.delete(call))
            }
          : (call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>): void => {
              record(call.request)
              this.#runtime.makeUnaryRequest(path, same, same, call.request, (error, answer) =>
                error ? done(error) : done(null, this.#changed(method, answer!)),
              )
            },
      },
    )
  }

  #changed(method: DescMethod, answer: Buffer): Buffer {
    if (method !== RuntimeService.method.status) return answer
    const status = fromBinary(StatusResponseSchema, answer)
    this.#changeStatus(status)
    return Buffer.from(toBinary(StatusResponseSchema, status))
  }
}

const same = (bytes: Buffer): Buffer => bytes
