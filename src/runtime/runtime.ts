/** The container runtime: a CRI server on a unix socket, in place of containerd. */
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { ImageService } from '#protobuf/cri-images_pb.js'
import type { RuntimeService } from '#protobuf/cri-runtime_pb.js'
import type { ServiceHandlers } from '../lib/grpc/socket-server.ts'
import { Lifetime } from '../lib/lifetime/lifetime.ts'
import type { Log } from '../lib/log/log.ts'
import { endInterruptedCheckpoints } from './checkpoints/checkpoint-container.ts'
import { Containers } from './containers/containers.ts'
import { containerCalls } from './cri/container-calls.ts'
import { ContainerEvents } from './cri/container-events.ts'
import { runtimeCalls } from './cri/runtime-calls.ts'
import type { RuntimeParts } from './cri/runtime-parts.ts'
import { sandboxCalls } from './cri/sandbox-calls.ts'
import { serveCri } from './cri/serve-cri.ts'
import { statsCalls } from './cri/stats-calls.ts'
import { streamCalls, streamedContainers } from './cri/stream-calls.ts'
import type { Executor } from './executors/executor.ts'
import { hostLimits } from './host/host-limits.ts'
import { KernelKills } from './host/kernel-kills.ts'
import { loadAppArmor } from './host/load-apparmor.ts'
import { reapOrphans } from './host/orphans.ts'
import type { ContainerImages } from './images-interface.ts'
import { PodConnections, type PodConnectionsOptions } from './network/pod-connections.ts'
import { Sandboxes } from './sandboxes/sandboxes.ts'
import { defaultCdiFolders } from './spec/cdi/index.ts'
import { UsageReader } from './stats/usage-reader.ts'
import { StreamingServer } from './streaming/streaming-server.ts'

export interface RuntimeOptions {
  /** The path of the socket. */
  readonly socket: string
  /** The folder of records, which survives a reboot: `/var/lib/typernetes/runtime`. */
  readonly root: string
  /** The folder of what a reboot removes: `/run/typernetes/runtime`. */
  readonly state: string
  readonly executor: Executor
  readonly images: ContainerImages
  readonly imageCalls: ServiceHandlers<typeof ImageService>
  readonly network: PodConnectionsOptions
  /** Folders of spec files of CDI, of which a later one wins. Default: `/etc/cdi` and `/var/run/cdi`. */
  readonly cdiFolders?: readonly string[] | undefined
  /** The port of streams on the loopback interface; 0 chooses a free one. */
  readonly streamPort: number
  readonly log: Log
}

export interface RunningRuntime {
  /** The program that runs containers, with its version: `crun version 1.8.1`. */
  readonly executor: string
  /** Resolves with the number of containers that run. */
  runningContainers(): Promise<number>
  /** Ends all containers: with their stop signal and, after `graceMs`, by force. Frees the networks of their pods. */
  stopPods(graceMs: number): Promise<void>
  /** Containers keep running, and a later runtime with the same folders takes them over. */
  stop(): Promise<void>
}

/** Goes on with containers of an earlier runtime, then serves. Rejects if a server runs on the socket. */
export async function startRuntime(options: RuntimeOptions): Promise<RunningRuntime> {
  const { socket, root, state, executor, images, log, cdiFolders = defaultCdiFolders } = options
  const lifetime = new Lifetime()
  try {
    for (const folder of [root, state]) {
      mkdirSync(folder, { recursive: true, mode: 0o711 })
      // The users of pods pass through it; the executor may have made it for root alone.
      chmodSync(folder, 0o711)
    }
    mkdirSync(join(state, 'sandboxes'), { recursive: true, mode: 0o711 })
    const kills = new KernelKills()
    lifetime.onEnd(() => kills.close())
    lifetime.onEnd(reapOrphans())
    const events = new ContainerEvents()
    const containers = new Containers({
      ...{ root, state, executor, kills, images, log },
      changed: (container, change) => events.notify(container, change, sandboxes, containers),
    })
    lifetime.onEnd(() => containers.release())
    const network = new PodConnections(options.network, { root, state, log })
    lifetime.onEnd(() => network.close())
    const sandboxes: Sandboxes = new Sandboxes({ root, state, executor, network, containers, log })
    sandboxes.recover()
    const checkpoints = { executor, images, folder: join(root, 'checkpoints') }
    await endInterruptedCheckpoints(checkpoints, log)
    await containers.recover()
    sandboxes.releaseOthers()
    const limits = hostLimits(await loadAppArmor(log))
    const parts: RuntimeParts = {
      ...{ sandboxes, containers, executor, images, network, events, checkpoints, limits, cdiFolders },
    }
    const streams = new StreamingServer(streamedContainers(parts))
    lifetime.onEnd(() => streams.stop())
    await streams.start(options.streamPort)
    await serveCri(socket, { runtime: handlersOf(parts, streams), images: options.imageCalls }, lifetime)
    return {
      executor: executor.version,
      runningContainers: async () => containers.all.filter(({ state }) => state === 'running').length,
      async stopPods(graceMs) {
        await Promise.all(containers.all.map((container) => container.stop(graceMs)))
        await Promise.all(sandboxes.all.map((sandbox) => sandboxes.stop(sandbox)))
      },
      stop: () => lifetime.end(),
    }
  } catch (error) {
    await lifetime.end()
    throw error
  }
}

const handlersOf = (parts: RuntimeParts, streams: StreamingServer): ServiceHandlers<typeof RuntimeService> => ({
  ...runtimeCalls(parts),
  ...sandboxCalls(parts),
  ...containerCalls(parts),
  ...streamCalls(parts, streams),
  ...statsCalls(parts, new UsageReader(parts.images, parts.containers)),
})
