/** CRI's calls for sandboxes. */
import { create } from '@bufbuild/protobuf'
import { PodSandboxConfigSchema, type PodSandboxFilter, type RuntimeService } from '#protobuf/cri-runtime_pb.js'
import { RpcError } from '../../lib/grpc/grpc-error.ts'
import type { ServiceHandlers } from '../../lib/grpc/socket-server.ts'
import { nowNs } from '../containers/container.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { namespacesOf } from '../sandboxes/sandboxes.ts'
import { containerStatus, hasLabels, sandboxMessage, sandboxStatus } from './messages.ts'
import type { RuntimeParts } from './runtime-parts.ts'

type SandboxCalls = Pick<
  ServiceHandlers<typeof RuntimeService>,
  | 'runPodSandbox'
  | 'stopPodSandbox'
  | 'removePodSandbox'
  | 'podSandboxStatus'
  | 'listPodSandbox'
  | 'updatePodSandboxResources'
>

export function sandboxCalls({ sandboxes, containers, executor }: RuntimeParts): SandboxCalls {
  return {
    async runPodSandbox({ config = create(PodSandboxConfigSchema), runtimeHandler }) {
      if (!config.metadata) throw new RpcError('InvalidArgument', 'sandbox config must include metadata')
      if (runtimeHandler !== '' && runtimeHandler !== executor.name)
        throw new RpcError(
          'Unknown',
          `failed to get sandbox runtime: no runtime for ${JSON.stringify(runtimeHandler)} is configured`,
        )
      return { podSandboxId: (await sandboxes.run(config, runtimeHandler)).id }
    },

    async stopPodSandbox({ podSandboxId }) {
      const sandbox = sandboxes.find(podSandboxId)
      if (sandbox) await sandboxes.stop(sandbox)
      return {}
    },

    async removePodSandbox({ podSandboxId }) {
      const sandbox = sandboxes.find(podSandboxId)
      if (sandbox) await sandboxes.remove(sandbox)
      return {}
    },

    podSandboxStatus({ podSandboxId, verbose }) {
      const sandbox = sandboxes.get(podSandboxId)
      return {
        status: sandboxStatus(sandbox, sandboxes.isReady(sandbox)),
        containersStatuses: containers.ofSandbox(sandbox.id).map(containerStatus),
        timestamp: nowNs(),
        ...(verbose && { info: { info: JSON.stringify(infoOf(sandbox)) } }),
      }
    },

    listPodSandbox: ({ filter }) => ({
      items: sandboxes.all
        .filter((sandbox) => matches(sandbox, sandboxes.isReady(sandbox), filter))
        .map((sandbox) => sandboxMessage(sandbox, sandboxes.isReady(sandbox))),
    }),

    updatePodSandboxResources({ podSandboxId }) {
      // The kubelet sets the cgroup of the pod; nothing else depends on these values.
      sandboxes.get(podSandboxId)
      return {}
    },
  }
}

/** Details that CRI does not define, for people and `crictl inspectp`; names are those of containerd and CRI-O. */
const infoOf = (sandbox: Sandbox) => ({
  pid: sandbox.record.infra?.pid ?? 0,
  runtimeHandler: sandbox.record.runtimeHandler,
  folder: sandbox.folder,
  cniResult: sandbox.record.network,
  runtimeSpec: { linux: { namespaces: namespacesOf(sandbox) } },
})

function matches(sandbox: Sandbox, isReady: boolean, filter: PodSandboxFilter | undefined): boolean {
  if (!filter) return true
  const { id, state, labelSelector } = filter
  return (
    sandbox.id.startsWith(id) &&
    (!state || (state.state === 0) === isReady) &&
    hasLabels(sandbox.config.labels, labelSelector)
  )
}
