/** CRI's calls for commands and streams. */
import type { RuntimeService } from '#protobuf/cri-runtime_pb.js'
import { RpcError } from '../../../lib/grpc/grpc-error.ts'
import type { ServiceHandlers } from '../../../lib/grpc/socket-server.ts'
import { collectOutput, requestedStreams } from '../../cri/stream-requests.ts'
import type { StreamedContainers, StreamingServer } from '../../streaming/streaming-server.ts'
import type { DockerParts } from '../docker-parts.ts'
import type { InspectedContainer } from '../pods/pods.ts'
import { attachTo } from '../streams/attach.ts'
import { execIn } from '../streams/exec.ts'
import { forwardTo } from '../streams/forward.ts'

type StreamCalls = Pick<ServiceHandlers<typeof RuntimeService>, 'execSync' | 'exec' | 'attach' | 'portForward'>

export function streamCalls(parts: DockerParts, server: StreamingServer): StreamCalls {
  const { pods } = parts
  const running = async (id: string): Promise<InspectedContainer> => {
    const container = await pods.container(id)
    if (container.inspection.State.Running) return container
    throw new RpcError('Unknown', `container ${id} is not running: its state is ${container.state}`)
  }
  return {
    async execSync({ containerId, cmd, timeout }) {
      if (cmd.length === 0) throw new RpcError('InvalidArgument', 'command cannot be empty')
      const { id } = await running(containerId)
      return collectOutput((stdout, stderr) =>
        execIn(parts, id, {
          words: cmd,
          isTerminal: false,
          stdin: undefined,
          stdout,
          stderr,
          timeoutMs: Number(timeout) * 1000,
        }),
      )
    },

    async exec({ containerId, cmd, ...streams }) {
      if (cmd.length === 0) throw new RpcError('InvalidArgument', 'command cannot be empty')
      const { id } = await running(containerId)
      return { url: server.urlFor({ kind: 'exec', containerId: id, words: cmd, streams: requestedStreams(streams) }) }
    },

    async attach({ containerId, ...streams }) {
      const { id } = await running(containerId)
      return { url: server.urlFor({ kind: 'attach', containerId: id, words: [], streams: requestedStreams(streams) }) }
    },

    async portForward({ podSandboxId }) {
      const sandbox = await pods.sandbox(podSandboxId)
      if (!sandbox.isReady)
        throw new RpcError('Unknown', `sandbox container ${JSON.stringify(sandbox.id)} is not running`)
      return { url: server.urlFor({ kind: 'portforward', sandboxId: sandbox.id }) }
    },
  }
}

/** Connects the streaming server with containers. */
export const streamedContainers = (parts: DockerParts): StreamedContainers => ({
  exec: (containerId, words, command) =>
    execIn(parts, containerId, {
      words,
      isTerminal: command.isTerminal,
      stdin: command.stdin,
      stdout: command.stdout,
      stderr: command.stderr,
      onResize: (callback) => command.onResize(callback),
      timeoutMs: 0,
    }),
  attach: (containerId, command) => attachTo(parts, containerId, command),
  portForward: (sandboxId, port, connection) => forwardTo(parts, sandboxId, port, connection),
})
