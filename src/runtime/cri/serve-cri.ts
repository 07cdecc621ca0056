/** Serves CRI on a unix socket. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { ImageService } from '#protobuf/cri-images_pb.js'
import { RuntimeService } from '#protobuf/cri-runtime_pb.js'
import { type ServiceHandlers, SocketServer } from '../../lib/grpc/socket-server.ts'
import type { Lifetime } from '../../lib/lifetime/lifetime.ts'

/** A container runtime as CRI's clients see it. */
export interface CriService {
  readonly runtime: ServiceHandlers<typeof RuntimeService>
  readonly images: ServiceHandlers<typeof ImageService>
}

/** As containerd's server. In bytes. */
const maxMessageBytes = 16 * 1024 * 1024

/** Serves until the end of `lifetime`. Rejects if a server runs on the socket. */
export async function serveCri(socket: string, { runtime, images }: CriService, lifetime: Lifetime): Promise<void> {
  mkdirSync(dirname(socket), { recursive: true })
  const server = new SocketServer({ 'grpc.max_receive_message_length': maxMessageBytes })
  server.add(RuntimeService, runtime)
  server.add(ImageService, images)
  lifetime.onEnd(() => server.stop())
  await server.listen(socket)
}

/** The path of an endpoint such as `unix:///run/typernetes/runtime.sock`. Throws an Error for others. */
export function socketOf(endpoint: string): string {
  const [, path] = /^unix:\/\/(\/.*)$/.exec(endpoint) ?? []
  if (path) return path
  throw new Error(`--listen must be a socket such as unix:///run/typernetes/runtime.sock, not ${endpoint}`)
}
