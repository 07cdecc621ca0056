/** CRI's calls for usage and metrics. */
import type { RuntimeService } from '#protobuf/cri-runtime_pb.js'
import type { ServiceHandlers } from '../../lib/grpc/socket-server.ts'
import { metricDescriptors, type UsageReader } from '../stats/usage-reader.ts'
import { hasLabels } from './messages.ts'
import type { RuntimeParts } from './runtime-parts.ts'

type StatsCalls = Pick<
  ServiceHandlers<typeof RuntimeService>,
  | 'containerStats'
  | 'listContainerStats'
  | 'podSandboxStats'
  | 'listPodSandboxStats'
  | 'listMetricDescriptors'
  | 'listPodSandboxMetrics'
>

export function statsCalls({ containers, sandboxes }: RuntimeParts, usage: UsageReader): StatsCalls {
  const ready = () => sandboxes.all.filter((sandbox) => sandboxes.isReady(sandbox))
  return {
    async containerStats({ containerId }) {
      return { stats: await usage.container(containers.get(containerId)) }
    },

    async listContainerStats({ filter }) {
      const { id = '', podSandboxId = '', labelSelector } = filter ?? {}
      const chosen = containers.all.filter(
        ({ state, record }) =>
          state !== 'exited' &&
          record.id.startsWith(id) &&
          record.sandboxId.startsWith(podSandboxId) &&
          hasLabels(record.config.labels, labelSelector),
      )
      return { stats: await Promise.all(chosen.map((container) => usage.container(container))) }
    },

    async podSandboxStats({ podSandboxId }) {
      return { stats: await usage.pod(sandboxes.get(podSandboxId)) }
    },

    async listPodSandboxStats({ filter }) {
      const { id = '', labelSelector } = filter ?? {}
      const chosen = ready().filter(
        (sandbox) => sandbox.id.startsWith(id) && hasLabels(sandbox.config.labels, labelSelector),
      )
      return { stats: await Promise.all(chosen.map((sandbox) => usage.pod(sandbox))) }
    },

    listMetricDescriptors: () => ({ descriptors: metricDescriptors() }),

    async listPodSandboxMetrics() {
      return { podMetrics: await Promise.all(ready().map((sandbox) => usage.metrics(sandbox))) }
    },
  }
}
