/** A gRPC server that returns what it gets. */
import { Server, ServerCredentials, status } from '@grpc/grpc-js'

/** Messages are bytes. */
export const bytes = (value: Buffer): Buffer => value

export interface GrpcEcho {
  readonly port: number
  /** Number of streams that clients have canceled. */
  readonly canceled: number
  stop(): void
}

type Callback = (error: object | null, value?: Buffer) => void

const method = {
  requestSerialize: bytes,
  requestDeserialize: bytes,
  responseSerialize: bytes,
  responseDeserialize: bytes,
}

/** Serves `/test.Echo/Unary`, which fails for the message `fail`, and the stream `/test.Echo/Both`. */
export async function grpcEcho(address: string): Promise<GrpcEcho> {
  const server = new Server()
  let canceled = 0
  server.addService(
    {
      unary: { ...method, path: '/test.Echo/Unary', requestStream: false, responseStream: false },
      both: { ...method, path: '/test.Echo/Both', requestStream: true, responseStream: true },
    },
    {
      unary: ({ request }: { request: Buffer }, callback: Callback) =>
        request.toString() === 'fail' ? callback({ code: status.ABORTED, details: 'no' }) : callback(null, request),
      both: (call: NodeJS.ReadWriteStream & NodeJS.EventEmitter) => {
        call.on('data', (chunk: Buffer) => call.write(chunk))
        call.on('end', () => call.end())
        call.on('cancelled', () => canceled++)
      },
    },
  )
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  server.bindAsync(`${address}:0`, ServerCredentials.createInsecure(), (error, bound) =>
    error ? reject(error) : resolve(bound),
  )
  const port = await promise
  return {
    port,
    get canceled() {
      return canceled
    },
    stop: () => server.forceShutdown(),
  }
}
