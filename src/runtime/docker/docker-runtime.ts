/**
 * The container runtime in front of a Docker engine, in the role of dockershim: a CRI server for machines whose
 * containers are Docker's.
 */
import { DockerEngine, engineAddress } from '../../lib/docker-engine/index.ts'
import { Lifetime } from '../../lib/lifetime/lifetime.ts'
import type { Log } from '../../lib/log/log.ts'
import { serveCri, socketOf } from '../cri/serve-cri.ts'
import { hostLimits } from '../host/host-limits.ts'
import type { RunningRuntime } from '../runtime.ts'
import { StreamingServer } from '../streaming/streaming-server.ts'
import { containerCalls } from './calls/container-calls.ts'
import { stateCalls } from './calls/container-states.ts'
import { imageCalls } from './calls/image-calls.ts'
import { runtimeCalls } from './calls/runtime-calls.ts'
import { sandboxCalls } from './calls/sandbox-calls.ts'
import { statsCalls } from './calls/stats-calls.ts'
import { streamCalls, streamedContainers } from './calls/stream-calls.ts'
import type { DockerParts } from './docker-parts.ts'
import type { EngineInfo } from './engine-types.ts'
import { ImageUserReader } from './images/image-users.ts'
import { PauseImage } from './images/pause-image.ts'
import { LogFollowers } from './logs/log-followers.ts'
import { Pods } from './pods/pods.ts'

export interface DockerRuntimeOptions {
  /** Such as `unix:///run/typernetes/runtime.sock`. */
  readonly endpoint: string
  /** The engine: `unix:///var/run/docker.sock`. Default: $DOCKER_HOST, or that. */
  readonly address: string | undefined
  /** Containers of other names on the same engine are not touched. */
  readonly name: string
  /** The port of streams on the loopback interface; 0 chooses a free one. */
  readonly streamPort: number
  readonly log: Log
}

/** The network of the engine that pods are connected to. */
const podNetwork = 'bridge'

/** Rejects with an error that says what is missing. Goes on with containers of an earlier runtime of this name. */
export async function startDockerRuntime(options: DockerRuntimeOptions): Promise<RunningRuntime> {
  const { endpoint } = options
  const lifetime = new Lifetime()
  try {
    const engine = new DockerEngine(engineAddress(options.address))
    lifetime.onEnd(() => engine.close())
    const parts = await partsOf(engine, options)
    lifetime.onEnd(() => parts.logs.close())
    await parts.pods.removeHelpers()
    for (const container of await parts.pods.containers())
      if (container.state !== 'created') parts.logs.follow(container.id, container)
    const streams = new StreamingServer(streamedContainers(parts))
    lifetime.onEnd(() => streams.stop())
    await streams.start(options.streamPort)
    const runtime = {
      ...runtimeCalls(parts),
      ...sandboxCalls(parts),
      ...containerCalls(parts),
      ...stateCalls(parts),
      ...streamCalls(parts, streams),
      ...statsCalls(parts),
    }
    await serveCri(socketOf(endpoint), { runtime, images: imageCalls(parts) }, lifetime)
    return {
      executor: `Docker ${parts.info.ServerVersion} at ${engine.address.text}`,
      runningContainers: async () => (await parts.pods.containers()).filter(({ state }) => state === 'running').length,
      async stopPods(graceMs) {
        const running = (await parts.pods.containers()).filter(({ state }) => state === 'running')
        await Promise.all(
          running.map(({ id }) =>
            engine.json({ method: 'POST', path: `/containers/${id}/stop?t=${Math.ceil(graceMs / 1000)}` }),
          ),
        )
      },
      stop: () => lifetime.end(),
    }
  } catch (error) {
    await lifetime.end()
    throw error
  }
}

async function partsOf(engine: DockerEngine, { name, log }: DockerRuntimeOptions): Promise<DockerParts> {
  const version = await engine.version()
  const info = await engine.json<EngineInfo>({ path: '/info' })
  if (info.OSType !== 'linux')
    throw new Error(`the Docker engine runs ${info.OSType} containers: switch it to Linux containers`)
  const pods = new Pods(engine, name)
  return {
    ...{ engine, version, info, pods, log },
    network: podNetwork,
    users: new ImageUserReader(engine, pods),
    logs: new LogFollowers(engine, log),
    pause: new PauseImage(engine, info.Architecture),
    minOomScoreAdj: process.platform === 'linux' ? hostLimits().minOomScoreAdj : undefined,
  }
}
