/** The kinds of volumes that this kubelet has. */
import type { PodEvent } from '../../node/pods/pod-types.ts'
import type { Pod } from '../pod-types.ts'
import type { PodCertificates } from './certificates/pod-certificates.ts'
import type { PodFields } from './content/pod-fields.ts'
import type { Mounter } from './mounts/mounter.ts'
import type { RunProgram } from './mounts/run-program.ts'
import type { VolumeObjects } from './objects/volume-objects.ts'
import { configMapKind, downwardApiKind, secretKind } from './plugins/content/content-kinds.ts'
import { contentVolume } from './plugins/content/content-volume.ts'
import { projectedKind } from './plugins/content/projected.ts'
import { emptyDirPlugin } from './plugins/empty-dir/empty-dir.ts'
import { MemoryFolders } from './plugins/empty-dir/memory-folders.ts'
import { hostPathPlugin } from './plugins/host/host-path.ts'
import { LocalPlugin } from './plugins/host/local.ts'
import { imagePlugin } from './plugins/image.ts'
import type { TokenCache } from './tokens/token-cache.ts'
import type { VolumePaths } from './volume-paths.ts'
import type { VolumePlugin } from './volume-plugin.ts'

export interface PluginOptions {
  readonly paths: VolumePaths
  readonly mounter: Mounter
  /** Runs programs for file systems of devices. */
  readonly run: RunProgram
  readonly objects: VolumeObjects
  readonly tokens: Pick<TokenCache, 'token'>
  readonly certificates: Pick<PodCertificates, 'bundle'>
  readonly fields: PodFields
  /** The memory of the node that pods may use, in bytes. */
  readonly allocatableMemory: () => bigint
  /** True if the kernel knows the option `noswap` of tmpfs. */
  readonly canDisableSwap: boolean
  record(pod: Pod, event: PodEvent): void
  readonly log: (line: string) => void
}

/** CSI is added by the caller, since it needs the drivers of the node. */
export function volumePlugins(options: PluginOptions): VolumePlugin[] {
  const { objects, fields } = options
  const memory = new MemoryFolders(options)
  const content = [configMapKind(objects), secretKind(objects), downwardApiKind(fields), projectedKind(options)]
  return [
    emptyDirPlugin({ ...options, memory }),
    hostPathPlugin,
    ...content.map((kind) => contentVolume(kind, { ...options, memory })),
    new LocalPlugin(options),
    imagePlugin,
  ]
}
