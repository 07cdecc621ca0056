/** CRI's calls for commands and streams. */
import type { RuntimeService } from '#protobuf/cri-runtime_pb.js'
import { RpcError } from '../../lib/grpc/grpc-error.ts'
import type { ServiceHandlers } from '../../lib/grpc/socket-server.ts'
import type { Container } from '../containers/container.ts'
import { wrongState } from '../containers/container.ts'
import { attachTo } from '../containers/streams/attach.ts'
import { execIn } from '../containers/streams/exec.ts'
import { forwardPort } from '../containers/streams/forward-port.ts'
import { namespaceFiles } from '../sandboxes/namespaces.ts'
import { usesHostNetwork } from '../sandboxes/sandbox.ts'
import type { StreamedContainers, StreamingServer } from '../streaming/streaming-server.ts'
import type { RuntimeParts } from './runtime-parts.ts'
import { collectOutput, requestedStreams } from './stream-requests.ts'

type StreamCalls = Pick<ServiceHandlers<typeof RuntimeService>, 'execSync' | 'exec' | 'attach' | 'portForward'>

export function streamCalls({ containers, sandboxes, executor }: RuntimeParts, server: StreamingServer): StreamCalls {
  const running = (id: string): Container => {
    const container = containers.get(id)
    if (container.state === 'running') return container
    throw wrongState(container)
  }
  return {
    async execSync({ containerId, cmd, timeout }) {
      if (cmd.length === 0) throw new RpcError('InvalidArgument', 'command cannot be empty')
      return collectOutput((stdout, stderr) =>
        execIn(containers.get(containerId), executor, {
          words: cmd,
          isTerminal: false,
          stdin: undefined,
          stdout,
          stderr,
          timeoutMs: Number(timeout) * 1000,
        }),
      )
    },

    exec({ containerId, cmd, ...streams }) {
      if (cmd.length === 0) throw new RpcError('InvalidArgument', 'command cannot be empty')
      const { id } = running(containerId)
      return { url: server.urlFor({ kind: 'exec', containerId: id, words: cmd, streams: requestedStreams(streams) }) }
    },

    attach({ containerId, ...streams }) {
      const { id } = running(containerId)
      return { url: server.urlFor({ kind: 'attach', containerId: id, words: [], streams: requestedStreams(streams) }) }
    },

    portForward({ podSandboxId }) {
      const sandbox = sandboxes.get(podSandboxId)
      if (!sandboxes.isReady(sandbox))
        throw new RpcError('Unknown', `sandbox container ${JSON.stringify(sandbox.id)} is not running`)
      return { url: server.urlFor({ kind: 'portforward', sandboxId: sandbox.id }) }
    },
  }
}

/** Connects the streaming server with containers. Rejects for those that were removed after their URL was returned. */
export const streamedContainers = ({ containers, sandboxes, executor }: RuntimeParts): StreamedContainers => ({
  exec: async (containerId, words, command) =>
    execIn(containers.get(containerId), executor, {
      words,
      isTerminal: command.isTerminal,
      stdin: command.stdin,
      stdout: command.stdout,
      stderr: command.stderr,
      onResize: (callback) => command.onResize(callback),
      timeoutMs: 0,
    }),
  attach: async (containerId, command) => attachTo(containers.get(containerId), command),
  async portForward(sandboxId, port, connection) {
    const sandbox = sandboxes.get(sandboxId)
    const { network: namespaceFile } = namespaceFiles(sandbox.folder)
    return forwardPort(usesHostNetwork(sandbox.config) ? { host: 'localhost' } : { namespaceFile }, port, connection)
  },
})
