/**
 * local persistent volumes: a folder of the node, or a block device of it. A device is passed to containers as it is,
 * or its file system is mounted once for all pods. The folder is bound to a folder of each pod.
 */
import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { KeyedQueue } from '../../../../lib/flow/keyed-queue.ts'
import type { PodEvent } from '../../../../node/pods/pod-types.ts'
import { type Pod, specOf } from '../../../pod-types.ts'
import { fsGroupOf } from '../../content/file-owner.ts'
import { applyGroup } from '../../files/group-ownership.ts'
import { undefinedIfMissing } from '../../files/missing.ts'
import { checkNoBacksteps } from '../../files/path-rules.ts'
import { removeIfEmpty, unmountAll } from '../../mounts/clear-folder.ts'
import { formatAndMount } from '../../mounts/format-and-mount.ts'
import { mountAt, mountsOfFolder } from '../../mounts/mount-table.ts'
import type { Mounter } from '../../mounts/mounter.ts'
import type { RunProgram } from '../../mounts/run-program.ts'
import type { VolumePaths } from '../../volume-paths.ts'
import {
  type HostVolume,
  MountError,
  type MountedVolume,
  type SetUpRequest,
  type VolumeFolder,
  type VolumePlugin,
  type VolumeSpec,
} from '../../volume-plugin.ts'

export interface LocalOptions {
  readonly paths: VolumePaths
  readonly mounter: Mounter
  /** Runs blkid, mkfs and fsck. */
  readonly run: RunProgram
  record(pod: Pod, event: PodEvent): void
  readonly log: (line: string) => void
}

const pluginName = 'kubernetes.io/local-volume'

export class LocalPlugin implements VolumePlugin {
  readonly name = pluginName
  readonly isRefreshed = false
  readonly hasMountOptions = true
  readonly #options: LocalOptions
  /** The operations of each persistent volume: pods share it. */
  readonly #operations = new KeyedQueue()

  constructor(options: LocalOptions) {
    this.#options = options
  }

  supports({ persistentVolume }: VolumeSpec): boolean {
    return persistentVolume?.spec?.local !== undefined
  }

  setUp(request: SetUpRequest): Promise<MountedVolume> {
    return this.#operations.run(request.spec.name, () => this.#setUp(request))
  }

  tearDown({ name, path }: VolumeFolder): Promise<void> {
    return this.#operations.run(name, async () => {
      await unmountAll(this.#options.mounter, path)
      await removeIfEmpty(path)
      await this.#releaseDevice(name)
    })
  }

  async #setUp(request: SetUpRequest): Promise<MountedVolume> {
    const { isReadOnly, persistentVolume } = request.spec
    const path = persistentVolume?.spec?.local?.path ?? ''
    if (persistentVolume?.spec?.volumeMode === 'Block') return { device: await checkedDevice(path), isReadOnly }
    return this.#bind(request, await this.#source(request.spec, path))
  }

  /** The folder of the volume on the node. A device is mounted if it is not. */
  async #source(spec: VolumeSpec, path: string): Promise<string> {
    const fail = (message: string): MountError =>
      new MountError('MountVolume.NewMounter initialization failed', message)
    const stats = await stat(path).catch(undefinedIfMissing)
    if (!stats) throw fail(`path ${JSON.stringify(path)} does not exist`)
    checkNoBacksteps(path, (message) => `invalid path: ${path} ${message}`)
    if (stats.isDirectory()) return path
    if (!stats.isBlockDevice()) throw fail('only directory and block device are supported')
    return this.#mountDevice(spec, path)
  }

  #deviceFolder(name: string): string {
    return join(this.#options.paths.plugin(pluginName), 'mounts', name)
  }

  async #mountDevice({ name, isReadOnly, persistentVolume }: VolumeSpec, device: string): Promise<string> {
    const { mounter, run } = this.#options
    const target = this.#deviceFolder(name)
    if (mountAt(await mounter.list(), target)) return target
    await mkdir(target, { recursive: true, mode: 0o750 })
    const { local, mountOptions = [] } = persistentVolume?.spec ?? {}
    const type = local?.fsType ?? 'ext4'
    const options = [...(isReadOnly ? ['ro'] : []), ...mountOptions]
    try {
      await formatAndMount(mounter, run, { device, target, type, options })
    } catch (error) {
      await removeIfEmpty(target)
      const place = `local: failed to mount device ${device} at ${target} (fstype: ${type})`
      throw new MountError('MountVolume.MountDevice failed', `${place}, error ${(error as Error).message}`)
    }
    return target
  }

  /** Unmounts the device of a volume that no pod uses any more. */
  async #releaseDevice(name: string): Promise<void> {
    const { mounter } = this.#options
    const target = this.#deviceFolder(name)
    const mounts = await mounter.list()
    if (!mountAt(mounts, target) || this.#usersOf(mountsOfFolder(mounts, target)).length > 0) return
    await unmountAll(mounter, target)
    await removeIfEmpty(target)
  }

  #usersOf(targets: readonly string[]): readonly string[] {
    return targets.filter((target) => target.startsWith(`${this.#options.paths.pods}/`))
  }

  async #bind({ pod, spec, folder }: SetUpRequest, source: string): Promise<HostVolume> {
    const { mounter, log } = this.#options
    const { isReadOnly, persistentVolume } = spec
    const mounted: HostVolume = { path: folder, isReadOnly, isRelabeled: !isReadOnly }
    const mounts = await mounter.list()
    if (mountAt(mounts, folder)) return mounted
    const isShared = this.#usersOf(mountsOfFolder(mounts, source)).length > 0
    const group = fsGroupOf(pod)
    if (group !== undefined && isShared) await this.#recordOtherGroup(pod, spec.name, source, group)
    await mkdir(folder, { recursive: true, mode: 0o750 })
    const mountOptions = persistentVolume?.spec?.mountOptions ?? []
    await bind(mounter, source, folder, ['bind', ...(isReadOnly ? ['ro'] : []), ...mountOptions])
    // The group is set by the first pod that uses the volume.
    const changePolicy = specOf(pod).securityContext?.fsGroupChangePolicy
    if (group !== undefined && !isReadOnly && !isShared)
      await applyGroup(folder, { group, isReadOnly, changePolicy }, log)
    return mounted
  }

  /** A volume has one group: the pod that comes later may not be able to write. */
  async #recordOtherGroup(pod: Pod, name: string, source: string, group: number): Promise<void> {
    const { gid } = await stat(source)
    if (gid === group) return
    const difference = `The requested fsGroup is ${group}, but the volume ${name} has GID ${gid}.`
    const message = `${difference} The volume may not be shareable.`
    this.#options.record(pod, { type: 'Warning', reason: 'AlreadyMountedVolume', message })
  }
}

async function checkedDevice(path: string): Promise<string> {
  const fail = (problem: string): MountError =>
    new MountError('MapVolume.SetUpDevice failed', `path ${JSON.stringify(path)} ${problem}`)
  const stats = await stat(path).catch(undefinedIfMissing)
  if (!stats) throw fail('does not exist')
  if (!stats.isBlockDevice()) throw fail('is not a block device')
  return path
}

/** Leaves no folder behind that looks like a mounted volume. */
async function bind(mounter: Mounter, source: string, target: string, options: readonly string[]): Promise<void> {
  try {
    await mounter.mount({ source, target, options })
  } catch (error) {
    await unmountAll(mounter, target)
    await removeIfEmpty(target)
    throw error
  }
}
