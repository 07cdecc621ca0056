/** CRI's calls for usage. */
import type { RuntimeService } from '#protobuf/cri-runtime_pb.js'
import { RpcError } from '../../../lib/grpc/grpc-error.ts'
import type { ServiceHandlers } from '../../../lib/grpc/socket-server.ts'
import { hasLabels } from '../../cri/messages.ts'
import type { DockerParts } from '../docker-parts.ts'
import { DockerUsage } from '../usage/docker-usage.ts'

type StatsCalls = Pick<
  ServiceHandlers<typeof RuntimeService>,
  | 'containerStats'
  | 'listContainerStats'
  | 'podSandboxStats'
  | 'listPodSandboxStats'
  | 'listMetricDescriptors'
  | 'listPodSandboxMetrics'
>

const noMetrics = (): never => {
  throw new RpcError('Unimplemented', 'Docker has no metrics of pods: use the statistics of pods and containers')
}

export function statsCalls(parts: DockerParts): StatsCalls {
  const { pods } = parts
  const usage = new DockerUsage(parts)
  return {
    async containerStats({ containerId }) {
      return { stats: await usage.container(await pods.container(containerId)) }
    },

    async listContainerStats({ filter }) {
      const { id = '', podSandboxId = '', labelSelector } = filter ?? {}
      const chosen = (await pods.containers()).filter(
        (container) =>
          container.state === 'running' &&
          container.id.startsWith(id) &&
          container.sandboxId.startsWith(podSandboxId) &&
          hasLabels(container.config.labels, labelSelector),
      )
      return { stats: await Promise.all(chosen.map((container) => usage.container(container))) }
    },

    async podSandboxStats({ podSandboxId }) {
      return { stats: await usage.pod(await pods.sandbox(podSandboxId)) }
    },

    async listPodSandboxStats({ filter }) {
      const { id = '', labelSelector } = filter ?? {}
      const chosen = (await pods.sandboxes()).filter(
        (sandbox) => sandbox.isReady && sandbox.id.startsWith(id) && hasLabels(sandbox.config.labels, labelSelector),
      )
      return { stats: await Promise.all(chosen.map((sandbox) => usage.pod(sandbox))) }
    },

    listMetricDescriptors: noMetrics,
    listPodSandboxMetrics: noMetrics,
  }
}
