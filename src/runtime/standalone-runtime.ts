/** The container runtime as `t8s runtime` starts it: with a store of images, and an executor. */
import type { Log } from '../lib/log/log.ts'
import { containerImages, imageCalls } from './cri/image-calls.ts'
import { socketOf } from './cri/serve-cri.ts'
import { findExecutor } from './executors/find-executor.ts'
import { ImagePuller, ImageStore, LayeredSnapshots, openImageSources, type RegistrySettings } from './images/index.ts'
import type { PodConnectionsOptions } from './network/pod-connections.ts'
import { type RunningRuntime, startRuntime } from './runtime.ts'

export interface StandaloneRuntimeOptions {
  /** Such as `unix:///run/typernetes/runtime.sock`. */
  readonly endpoint: string
  readonly root: string
  readonly state: string
  readonly imageFolder: string
  /** Mirrors, and registries without TLS. Default: none. */
  readonly registries?: RegistrySettings
  /** Other programs whose images are used, such as `docker` or `containerd`. Default: none. */
  readonly imageSources?: readonly string[]
  /** `auto`, `shell`, or the name or path of crun or runc. Default: `auto`. */
  readonly executor?: string
  readonly network: PodConnectionsOptions
  /** Folders of spec files of CDI, of which a later one wins. Default: `/etc/cdi` and `/var/run/cdi`. */
  readonly cdiFolders?: readonly string[]
  readonly streamPort: number
  readonly log: Log
}

/** Rejects with an error that says what is missing. */
export async function startStandaloneRuntime(options: StandaloneRuntimeOptions): Promise<RunningRuntime> {
  const { endpoint, root, state, imageFolder, log } = options
  const store = new ImageStore(imageFolder)
  const parts = {
    store,
    puller: new ImagePuller({ store, ...options.registries }),
    snapshots: await LayeredSnapshots.open({ store }),
    sources: openImageSources(store, options.imageSources ?? [], log),
  }
  const executor = await findExecutor({ name: options.executor ?? 'auto', root, state, log })
  const runtime = await startRuntime({
    socket: socketOf(endpoint),
    root,
    state,
    executor,
    images: containerImages(parts),
    imageCalls: imageCalls(parts),
    network: options.network,
    cdiFolders: options.cdiFolders,
    streamPort: options.streamPort,
    log,
  })
  return {
    ...runtime,
    async stop() {
      await runtime.stop()
      parts.sources.close()
    },
  }
}
