/** Sets up one volume of a pod: resolves its claim, finds the plug-in, checks what upstream checks, and calls it. */
import { nodeSelectorOf, type SelectedNode } from '../../../machinery/selectors/node-selector.ts'
import type { Pod } from '../../pod-types.ts'
import type { VolumeObjects } from '../objects/volume-objects.ts'
import type { VolumePaths } from '../volume-paths.ts'
import {
  MountError,
  type MountedVolume,
  PendingError,
  type Volume,
  type VolumePlugin,
  type VolumeSpec,
} from '../volume-plugin.ts'
import { volumeSpec } from './volume-specs.ts'

export interface SetUpOptions {
  readonly paths: VolumePaths
  readonly plugins: readonly VolumePlugin[]
  readonly objects: Pick<VolumeObjects, 'claim' | 'persistentVolume'>
  readonly node: () => SelectedNode
  /** True if another pod of this node has set up the persistent volume. */
  isUsedByOther(persistentVolume: string, uid: string): boolean
}

/** A volume that was set up. */
export interface ReadyVolume {
  readonly name: string
  readonly spec: VolumeSpec
  readonly plugin: VolumePlugin
  readonly mounted: MountedVolume
}

/** A volume cannot be processed yet, such as one whose claim is not bound. */
export class ProcessError extends Error {}

/** Rejects with a ProcessError, or with an Error whose message is the one of the event. */
export async function setUpVolume(pod: Pod, volume: Volume, options: SetUpOptions): Promise<ReadyVolume> {
  const { spec, plugin } = await resolved(pod, volume, options)
  return { name: spec.name, spec, plugin, mounted: await runPlugin(pod, spec, plugin, options) }
}

/** Calls the plug-in, also to refresh a volume. Rejects with an Error whose message is the one of the event. */
export async function runPlugin(
  pod: Pod,
  spec: VolumeSpec,
  plugin: VolumePlugin,
  options: SetUpOptions,
): Promise<MountedVolume> {
  const { uid = '' } = pod.metadata
  try {
    check(spec, plugin, uid, options)
    return await plugin.setUp({ pod, spec, folder: options.paths.volume(uid, plugin.name, spec.name) })
  } catch (error) {
    if (error instanceof PendingError) throw error
    const { message } = error as Error
    const step = error instanceof MountError ? error.step : 'MountVolume.SetUp failed'
    throw new Error(`${step} for volume ${JSON.stringify(spec.name)} : ${message}`)
  }
}

async function resolved(
  pod: Pod,
  volume: Volume,
  { plugins, objects }: SetUpOptions,
): Promise<{ readonly spec: VolumeSpec; readonly plugin: VolumePlugin }> {
  const spec = await volumeSpec(pod, volume, objects).catch((error: Error) => {
    throw new ProcessError(error.message)
  })
  const plugin = plugins.find((one) => one.supports(spec))
  if (!plugin)
    throw new ProcessError(
      `failed to get Plugin from volumeSpec for volume ${JSON.stringify(spec.name)} err=no volume plugin matched`,
    )
  return { spec, plugin }
}

function check({ persistentVolume }: VolumeSpec, plugin: VolumePlugin, uid: string, options: SetUpOptions): void {
  const { nodeAffinity, mountOptions = [], accessModes = [] } = persistentVolume?.spec ?? {}
  if (nodeAffinity?.required && !nodeSelectorOf(nodeAffinity.required)(options.node()))
    throw new MountError('MountVolume.NodeAffinity check failed', 'no matching NodeSelectorTerms')
  if (mountOptions.length > 0 && !plugin.hasMountOptions)
    throw new MountError(
      'MountVolume.MountOptionSupport check failed',
      'Mount options are not supported for this volume type',
    )
  if (accessModes.includes('ReadWriteOncePod') && options.isUsedByOther(persistentVolume?.metadata.name ?? '', uid))
    throw new MountError(
      'MountVolume.SetUp failed',
      'volume uses the ReadWriteOncePod access mode and is already in use by another pod',
    )
}
