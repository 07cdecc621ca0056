/** CRI's calls for containers. */
import { create } from '@bufbuild/protobuf'
import {
  ContainerConfigSchema,
  type ContainerFilter,
  LinuxContainerConfigSchema,
  type RuntimeService,
} from '#protobuf/cri-runtime_pb.js'
import type { LinuxContainerResources } from '#protobuf/cri-values_pb.js'
import { RpcError } from '../../lib/grpc/grpc-error.ts'
import type { ServiceHandlers } from '../../lib/grpc/socket-server.ts'
import { messageOf } from '../../lib/message-of.ts'
import { checkpointContainer } from '../checkpoints/checkpoint-container.ts'
import { type Container, wrongState } from '../containers/container.ts'
import { createContainer } from '../containers/create-container.ts'
import { ociResources } from '../spec/resources.ts'
import { containerMessage, containerState, containerStatus, hasLabels } from './messages.ts'
import type { RuntimeParts } from './runtime-parts.ts'

type ContainerCalls = Pick<
  ServiceHandlers<typeof RuntimeService>,
  | 'createContainer'
  | 'startContainer'
  | 'stopContainer'
  | 'removeContainer'
  | 'listContainers'
  | 'containerStatus'
  | 'updateContainerResources'
  | 'reopenContainerLog'
  | 'checkpointContainer'
>

export function containerCalls(parts: RuntimeParts): ContainerCalls {
  const { sandboxes, containers } = parts
  return {
    async createContainer({ podSandboxId, config = create(ContainerConfigSchema) }) {
      if (!config.metadata) throw new RpcError('InvalidArgument', 'container config must include metadata')
      const container = await createContainer(parts, readySandbox(sandboxes, podSandboxId), config)
      return { containerId: container.id }
    },

    async startContainer({ containerId }) {
      const container = containers.get(containerId)
      readySandbox(sandboxes, container.record.sandboxId)
      await container.start()
      return {}
    },

    async stopContainer({ containerId, timeout }) {
      await containers.find(containerId)?.stop(Number(timeout) * 1000)
      return {}
    },

    async removeContainer({ containerId }) {
      const container = containers.find(containerId)
      if (container) await containers.remove(container)
      return {}
    },

    listContainers({ filter }) {
      return { containers: containers.all.filter((container) => matches(container, filter)).map(containerMessage) }
    },

    containerStatus({ containerId, verbose }) {
      const container = containers.get(containerId)
      const info = verbose && { info: { info: JSON.stringify(infoOf(container, parts)) } }
      return { status: containerStatus(container), ...info }
    },

    async updateContainerResources({ containerId, linux }) {
      if (linux) await updateResources(parts, containers.get(containerId), linux)
      return {}
    },

    reopenContainerLog({ containerId }) {
      const container = containers.get(containerId)
      if (container.state !== 'running') throw new RpcError('Unknown', 'container is not running')
      container.output?.reopenLog()
      return {}
    },

    async checkpointContainer({ containerId, location, timeout }) {
      const target = { location, timeoutMs: Number(timeout) * 1000 }
      await checkpointContainer(parts.checkpoints, containers.get(containerId), target)
      return {}
    },
  }
}

function readySandbox(sandboxes: RuntimeParts['sandboxes'], id: string) {
  const sandbox = sandboxes.get(id)
  if (sandboxes.isReady(sandbox)) return sandbox
  throw new RpcError('Unknown', `sandbox container ${JSON.stringify(sandbox.id)} is not running`)
}

/** Values that are not set remain as they were. */
async function updateResources({ executor }: RuntimeParts, container: Container, change: LinuxContainerResources) {
  const { config } = container.record
  const { folder, id, state } = container
  if (state === 'exited') throw wrongState(container)
  const spec = executor.specOf(folder)
  const changed = ociResources(change)
  const resources = {
    ...spec.linux.resources,
    memory: { ...spec.linux.resources.memory, ...changed.memory },
    cpu: { ...spec.linux.resources.cpu, ...changed.cpu },
    ...(changed.unified && { unified: { ...spec.linux.resources.unified, ...changed.unified } }),
  }
  const { devices: _, hugepageLimits: __, ...updated } = resources
  if (state === 'running')
    await executor.update(id, folder, updated).catch((error) => {
      throw new RpcError('Unknown', `failed to update resources: ${messageOf(error)}`)
    })
  executor.prepare(folder, { ...spec, linux: { ...spec.linux, resources } })
  const linux = config.linux ?? create(LinuxContainerConfigSchema)
  container.update({ config: { ...config, linux: { ...linux, resources: merged(linux.resources, change) } } })
}

/** The values of `change` that are set, and the others of `current`. */
function merged(
  current: LinuxContainerResources | undefined,
  change: LinuxContainerResources,
): LinuxContainerResources {
  if (!current) return change
  const set = Object.entries(change).filter(
    ([, value]) => value !== 0n && value !== '' && !(typeof value === 'object' && Object.keys(value).length === 0),
  )
  return { ...current, ...(Object.fromEntries(set) as Partial<LinuxContainerResources>) }
}

/** Details that CRI does not define, for kubelets, people and `crictl inspect`. */
const infoOf = ({ record, folder, id }: Container, { executor }: RuntimeParts) => ({
  sandboxID: record.sandboxId,
  pid: record.end ? 0 : (record.process?.pid ?? 0),
  removing: record.isRemoved === true,
  runtimeType: executor.version,
  snapshotKey: id,
  runtimeSpec: executor.specOf(folder),
})

function matches(container: Container, filter: ContainerFilter | undefined): boolean {
  if (!filter) return true
  const { id, state, podSandboxId, labelSelector } = filter
  const { record } = container
  return (
    record.id.startsWith(id) &&
    (!state || state.state === containerState(container)) &&
    record.sandboxId.startsWith(podSandboxId) &&
    hasLabels(record.config.labels, labelSelector)
  )
}
