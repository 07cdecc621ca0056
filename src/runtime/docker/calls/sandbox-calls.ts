/** CRI's calls for sandboxes. */
import { existsSync, writeFileSync } from 'node:fs'
import { create } from '@bufbuild/protobuf'
import { type PodSandboxConfig, PodSandboxConfigSchema, type RuntimeService } from '#protobuf/cri-runtime_pb.js'
import { RpcError } from '../../../lib/grpc/grpc-error.ts'
import type { ServiceHandlers } from '../../../lib/grpc/socket-server.ts'
import { nowNs } from '../../containers/container.ts'
import { hasLabels } from '../../cri/messages.ts'
import { resolvConfOf } from '../../sandboxes/pod-files.ts'
import { callError, type DockerParts } from '../docker-parts.ts'
import { sandboxLabels } from '../pods/labels.ts'
import { sandboxMessage, sandboxStatus } from '../pods/messages.ts'
import { sandboxName } from '../pods/names.ts'
import { statusesIn } from '../pods/statuses.ts'
import { sandboxSpec } from '../spec/sandbox-spec.ts'

type SandboxCalls = Pick<
  ServiceHandlers<typeof RuntimeService>,
  | 'runPodSandbox'
  | 'stopPodSandbox'
  | 'removePodSandbox'
  | 'podSandboxStatus'
  | 'listPodSandbox'
  | 'updatePodSandboxResources'
>

export function sandboxCalls(parts: DockerParts): SandboxCalls {
  const { pods, logs } = parts
  return {
    async runPodSandbox({ config = create(PodSandboxConfigSchema), runtimeHandler }) {
      if (!config.metadata) throw new RpcError('InvalidArgument', 'sandbox config must include metadata')
      try {
        return { podSandboxId: await runSandbox(parts, config, runtimeHandler) }
      } catch (error) {
        throw callError(`failed to run the sandbox of pod ${JSON.stringify(config.metadata.name)}`, error)
      }
    },

    async stopPodSandbox({ podSandboxId }) {
      const sandbox = await pods.findSandbox(podSandboxId)
      if (!sandbox) return {}
      await Promise.all((await pods.containers(sandbox.id)).map(({ id }) => pods.kill(id)))
      await pods.kill(sandbox.id)
      return {}
    },

    async removePodSandbox({ podSandboxId }) {
      const sandbox = await pods.findSandbox(podSandboxId)
      if (!sandbox) return {}
      for (const { id } of await pods.containers(sandbox.id)) {
        await pods.remove(id)
        await logs.forget(id)
      }
      await pods.remove(sandbox.id)
      return {}
    },

    async podSandboxStatus({ podSandboxId, verbose }) {
      const sandbox = await pods.sandbox(podSandboxId)
      const { Pid: pid } = sandbox.inspection.State
      return {
        status: sandboxStatus(sandbox),
        containersStatuses: await statusesIn(parts, sandbox.id),
        timestamp: nowNs(),
        ...(verbose && { info: { info: JSON.stringify({ pid, runtimeHandler: sandbox.runtimeHandler }) } }),
      }
    },

    async listPodSandbox({ filter }) {
      const { id = '', state, labelSelector } = filter ?? {}
      const found = (await pods.sandboxes()).filter(
        (sandbox) =>
          sandbox.id.startsWith(id) &&
          (!state || (state.state === 0) === sandbox.isReady) &&
          hasLabels(sandbox.config.labels, labelSelector),
      )
      return { items: found.map(sandboxMessage) }
    },

    async updatePodSandboxResources({ podSandboxId }) {
      // The kubelet sets the cgroup of the pod.
      await pods.sandbox(podSandboxId)
      return {}
    },
  }
}

async function runSandbox(parts: DockerParts, config: PodSandboxConfig, runtimeHandler: string): Promise<string> {
  const { engine, info, pods, pause, minOomScoreAdj, network } = parts
  if (runtimeHandler !== '' && !Object.hasOwn(info.Runtimes ?? {}, runtimeHandler))
    throw new RpcError(
      'Unknown',
      `failed to get sandbox runtime: no runtime for ${JSON.stringify(runtimeHandler)} is configured`,
    )
  const labels = sandboxLabels(pods.owner, { config, createdAt: nowNs(), runtimeHandler })
  const image = await pause.ensure()
  const { CgroupDriver: cgroupDriver } = info
  const body = sandboxSpec({ config, image, labels, network, cgroupDriver, minOomScoreAdj, runtime: runtimeHandler })
  const id = await pods.create(sandboxName(config.metadata!), body)
  try {
    await engine.json({ method: 'POST', path: `/containers/${id}/start` })
    await writeResolvConf(parts, id, config)
  } catch (error) {
    await pods.remove(id).catch(() => {})
    throw error
  }
  return id
}

/** The engine adds domains and options of the machine. If the file is on this machine, the pod gets only its own. */
async function writeResolvConf({ pods }: DockerParts, id: string, { dnsConfig }: PodSandboxConfig): Promise<void> {
  const text = dnsConfig && resolvConfOf(dnsConfig)
  if (!text) return
  const { ResolvConfPath: file } = (await pods.sandbox(id)).inspection
  if (file && existsSync(file)) writeFileSync(file, text)
}
