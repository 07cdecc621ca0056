/** The container runtime as `t8s runtime` starts it: with a store of images, and crun or runc. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Log } from '../lib/log/log.ts'
import { messageOf } from '../lib/message-of.ts'
import { containerImages, imageCalls } from './cri/image-calls.ts'
import { OciExecutor } from './executors/oci/oci-executor.ts'
import { ImagePuller, ImageStore, LayeredSnapshots, type RegistrySettings } from './images/index.ts'
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
  /** A name or path. Default: crun, else runc. */
  readonly ociRuntime?: string | undefined
  readonly network: PodConnectionsOptions
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
  }
  const executor = await findExecutor(options.ociRuntime, join(state, 'oci'))
  const runtime = await startRuntime({
    socket: socketOf(endpoint),
    root,
    state,
    executor,
    images: containerImages(parts),
    imageCalls: imageCalls(parts),
    network: options.network,
    streamPort: options.streamPort,
    log,
  })
  log(`runtime serves on ${endpoint}, and runs containers with ${executor.version}`)
  return runtime
}

function socketOf(endpoint: string): string {
  const [, path] = /^unix:\/\/(\/.*)$/.exec(endpoint) ?? []
  if (path) return path
  throw new Error(`--listen must be a socket such as unix:///run/typernetes/runtime.sock, not ${endpoint}`)
}

async function findExecutor(program: string | undefined, root: string): Promise<OciExecutor> {
  const programs = program ? [program] : hasHybridCgroups() ? ['runc', 'crun'] : ['crun', 'runc']
  const failures: string[] = []
  for (const candidate of programs) {
    try {
      return await OciExecutor.create({ program: candidate, root })
    } catch (error) {
      failures.push(messageOf(error))
    }
  }
  throw new Error(`containers need crun or runc (apt-get install crun): ${failures.join('; ')}`)
}

/** True if cgroup v2 has controllers beside those of v1, which crun does not accept. */
function hasHybridCgroups(): boolean {
  const file = '/sys/fs/cgroup/unified/cgroup.controllers'
  return existsSync(file) && readFileSync(file, 'utf8').trim() !== ''
}
