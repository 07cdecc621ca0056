/** CRI's calls for the states, limits and logs of containers. */
import type { RuntimeService } from '#protobuf/cri-runtime_pb.js'
import { RpcError } from '../../../lib/grpc/grpc-error.ts'
import type { ServiceHandlers } from '../../../lib/grpc/socket-server.ts'
import { hasLabels } from '../../cri/messages.ts'
import { callError, type DockerParts } from '../docker-parts.ts'
import { containerMessage, containerState } from '../pods/messages.ts'
import { statusOf } from '../pods/statuses.ts'
import { resourceSettings } from '../spec/resources.ts'

type StateCalls = Pick<
  ServiceHandlers<typeof RuntimeService>,
  'listContainers' | 'containerStatus' | 'updateContainerResources' | 'reopenContainerLog' | 'checkpointContainer'
>

export function stateCalls(parts: DockerParts): StateCalls {
  const { engine, pods, logs } = parts
  return {
    async listContainers({ filter }) {
      const { id = '', state, podSandboxId = '', labelSelector } = filter ?? {}
      const found = (await pods.containers()).filter(
        (container) =>
          container.id.startsWith(id) &&
          (!state || state.state === containerState(container)) &&
          container.sandboxId.startsWith(podSandboxId) &&
          hasLabels(container.config.labels, labelSelector),
      )
      return { containers: found.map(containerMessage) }
    },

    async containerStatus({ containerId, verbose }) {
      const container = await pods.container(containerId)
      const { sandboxId: sandboxID, inspection } = container
      const info = { sandboxID, pid: inspection.State.Pid, runtimeSpec: inspection.HostConfig }
      return {
        status: await statusOf(parts, container),
        ...(verbose && { info: { info: JSON.stringify(info) } }),
      }
    },

    async updateContainerResources({ containerId, linux }) {
      const { id } = await pods.container(containerId)
      if (!linux) return {}
      const path = `/containers/${id}/update`
      await engine.json({ method: 'POST', path, body: resourceSettings(linux) }).catch((error) => {
        throw callError('failed to update resources', error)
      })
      return {}
    },

    async reopenContainerLog({ containerId }) {
      const container = await pods.container(containerId)
      if (!container.inspection.State.Running) throw new RpcError('Unknown', 'container is not running')
      logs.reopen(container.id)
      return {}
    },

    checkpointContainer() {
      throw new RpcError('Unimplemented', 'checkpoints need another container runtime than Docker')
    },
  }
}
