/** CRI's calls for the lives of containers. */
import { join } from 'node:path'
import { create } from '@bufbuild/protobuf'
import { type ContainerConfig, ContainerConfigSchema, type RuntimeService } from '#protobuf/cri-runtime_pb.js'
import { isMissing } from '../../../lib/docker-engine/index.ts'
import { RpcError } from '../../../lib/grpc/grpc-error.ts'
import type { ServiceHandlers } from '../../../lib/grpc/socket-server.ts'
import { nowNs } from '../../containers/container.ts'
import { resolveUser } from '../../spec/user.ts'
import { callError, type DockerParts } from '../docker-parts.ts'
import { containerLabels } from '../pods/labels.ts'
import { containerName } from '../pods/names.ts'
import type { InspectedSandbox } from '../pods/pods.ts'
import { containerSpec } from '../spec/container-spec.ts'

type ContainerCalls = Pick<
  ServiceHandlers<typeof RuntimeService>,
  'createContainer' | 'startContainer' | 'stopContainer' | 'removeContainer'
>

export function containerCalls(parts: DockerParts): ContainerCalls {
  const { engine, pods, logs } = parts
  const requireReady = async (id: string): Promise<InspectedSandbox> => {
    const sandbox = await pods.sandbox(id)
    if (sandbox.isReady) return sandbox
    throw new RpcError('Unknown', `sandbox container ${JSON.stringify(sandbox.id)} is not running`)
  }
  return {
    async createContainer({ podSandboxId, config = create(ContainerConfigSchema) }) {
      if (!config.metadata) throw new RpcError('InvalidArgument', 'container config must include metadata')
      const sandbox = await requireReady(podSandboxId)
      try {
        return { containerId: await createContainer(parts, sandbox, config) }
      } catch (error) {
        throw callError('failed to create container', error)
      }
    },

    async startContainer({ containerId }) {
      const container = await pods.container(containerId)
      await requireReady(container.sandboxId)
      // The engine accepts a second start.
      if (container.state !== 'created')
        throw new RpcError('Unknown', `container ${containerId} is in state ${container.state}, and was started before`)
      try {
        await engine.json({ method: 'POST', path: `/containers/${container.id}/start` })
      } catch (error) {
        throw callError(`failed to start container ${JSON.stringify(containerId)}`, error)
      } finally {
        logs.follow(container.id, container)
      }
      return {}
    },

    async stopContainer({ containerId, timeout }) {
      const container = await pods.findContainer(containerId)
      if (!container?.inspection.State.Running) return {}
      if (timeout <= 0n) {
        await pods.kill(container.id)
        return {}
      }
      const path = `/containers/${container.id}/stop`
      await engine.json({ method: 'POST', path, query: { t: Number(timeout) } }).catch((error) => {
        if (!isMissing(error)) throw callError('failed to stop container', error)
      })
      return {}
    },

    async removeContainer({ containerId }) {
      const container = await pods.findContainer(containerId)
      if (!container) return {}
      await pods.remove(container.id)
      await logs.forget(container.id)
      return {}
    },
  }
}

async function createContainer(
  parts: DockerParts,
  sandbox: InspectedSandbox,
  config: ContainerConfig,
): Promise<string> {
  const { pods, users, info, version, minOomScoreAdj } = parts
  const { logDirectory, metadata: pod } = sandbox.config
  const logPath = config.logPath && logDirectory ? join(logDirectory, config.logPath) : ''
  const image = await users.of(config.image?.image ?? '')
  const { uid, gid, groups } = resolveUser(config.linux?.securityContext, image.user, image.files)
  const user = { uid, gid, groups }
  const labels = containerLabels(pods.owner, { config, createdAt: nowNs(), sandboxId: sandbox.id, logPath, user })
  const body = containerSpec({
    config,
    sandboxId: sandbox.id,
    sandbox: sandbox.config,
    labels,
    user,
    version,
    cgroupDriver: info.CgroupDriver,
    minOomScoreAdj,
    runtime: sandbox.runtimeHandler,
  })
  return pods.create(containerName(config.metadata!, pod!), body)
}
