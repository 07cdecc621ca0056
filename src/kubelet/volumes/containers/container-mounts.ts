/** The mounts of a container: its volumes, with sub paths bound and flags resolved. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { DeviceInitShape, MountInitShape } from '../../cri/mounts.ts'
import { expand } from '../../environment/expand.ts'
import type { Container, Pod } from '../../pod-types.ts'
import { undefinedIfMissing } from '../files/missing.ts'
import { checkNoBacksteps } from '../files/path-rules.ts'
import type { Mounter } from '../mounts/mounter.ts'
import { safeMakeFolder } from '../sub-paths/safe-open.ts'
import { bindSubPath } from '../sub-paths/sub-paths.ts'
import type { VolumePaths } from '../volume-paths.ts'
import type { HostVolume, ImageVolume, MountedVolume } from '../volume-plugin.ts'
import { isRecursiveReadOnly, propagationOf, type VolumeMount } from './mount-flags.ts'

/** The volumes of a pod that were set up, by their name in the pod; `name` is the volume's own. */
export type MountedVolumes = ReadonlyMap<string, { readonly name: string; readonly mounted: MountedVolume }>

export interface ContainerMountsOptions {
  readonly paths: VolumePaths
  readonly mounter: Mounter
  /** Makes an image present by its pull policy and resolves with its reference in the runtime. */
  image(pod: Pod, image: ImageVolume['image']): Promise<string>
  /** True if the runtime's handler of the pod supports recursive read-only mounts. */
  canMountRecursivelyReadOnly(pod: Pod): Promise<boolean>
  /** True if SELinux is enabled on the node. */
  readonly hasSelinux: boolean
  readonly log: (line: string) => void
}

/** Rejects with upstream's message. Details of the host's files are only logged. */
export async function containerMounts(
  pod: Pod,
  container: Container,
  environment: ReadonlyMap<string, string>,
  volumes: MountedVolumes,
  options: ContainerMountsOptions,
): Promise<MountInitShape[]> {
  const mounts: MountInitShape[] = []
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const volume = volumes.get(mount.name)
    if (!volume) throw missingVolume(mount.name, container)
    const subPath = mount.subPathExpr ? expandedSubPath(mount.subPathExpr, environment) : (mount.subPath ?? '')
    if ('image' in volume.mounted) {
      mounts.push(await imageMount(pod, mount, subPath, volume.mounted, options))
      continue
    }
    if (!('path' in volume.mounted)) throw missingVolume(mount.name, container)
    let hostPath = volume.mounted.path
    if (subPath) {
      const target = options.paths.subPath(pod.metadata.uid ?? '', volume.name, container.name, index)
      hostPath = await boundPath({ mount, container, subPath, target }, volume.mounted, options)
    }
    mounts.push(await hostMount(pod, mount, hostPath, volume.mounted, options))
  }
  return mounts
}

const missingVolume = (volume: string, container: Container): Error =>
  new Error(`cannot find volume ${JSON.stringify(volume)} to mount into container ${JSON.stringify(container.name)}`)

/** The devices of a container: volumes that it uses without a file system. Throws an Error with upstream's message. */
export const containerDevices = (container: Container, volumes: MountedVolumes): DeviceInitShape[] =>
  (container.volumeDevices ?? []).map(({ name, devicePath }) => {
    if (!devicePath.startsWith('/')) throw new Error(`error DevicePath \`${devicePath}\` must be an absolute path`)
    const mounted = volumes.get(name)?.mounted
    if (!mounted || !('device' in mounted))
      throw new Error(
        `cannot find volume ${JSON.stringify(name)} to pass into container ${JSON.stringify(container.name)}`,
      )
    const { device, isReadOnly } = mounted
    return { containerPath: devicePath, hostPath: device, permissions: isReadOnly ? 'r' : 'mrw' }
  })

async function hostMount(
  pod: Pod,
  mount: VolumeMount,
  hostPath: string,
  { isReadOnly, isRelabeled }: HostVolume,
  { canMountRecursivelyReadOnly, hasSelinux }: ContainerMountsOptions,
): Promise<MountInitShape> {
  return {
    containerPath: absolute(mount.mountPath),
    hostPath,
    readonly: isReadOnly || mount.readOnly === true,
    recursiveReadOnly: await isRecursiveReadOnly(mount, () => canMountRecursivelyReadOnly(pod)),
    propagation: propagationOf(mount.mountPropagation),
    selinuxRelabel: hasSelinux && isRelabeled,
  }
}

async function imageMount(
  pod: Pod,
  mount: VolumeMount,
  imageSubPath: string,
  { image }: ImageVolume,
  options: ContainerMountsOptions,
): Promise<MountInitShape> {
  const reference = await options.image(pod, image)
  return {
    containerPath: absolute(mount.mountPath),
    readonly: true,
    image: { image: reference, userSpecifiedImage: image.reference },
    imageSubPath,
  }
}

/** Throws an Error that names variables without a value. */
function expandedSubPath(expression: string, environment: ReadonlyMap<string, string>): string {
  const missing = new Set<string>()
  const value = expand(expression, {
    get(name) {
      const text = environment.get(name)
      if (!text) missing.add(name)
      return text
    },
  })
  if (missing.size > 0) throw new Error(`missing value for ${[...missing].sort().join(', ')}`)
  return value
}

interface SubPathMount {
  readonly mount: VolumeMount
  readonly container: Container
  readonly subPath: string
  readonly target: string
}

/** Binds a sub path and returns the path for the runtime. A missing one becomes a folder with the volume's mode. */
async function boundPath(
  { mount, container, subPath, target }: SubPathMount,
  { path }: HostVolume,
  { mounter, log }: ContainerMountsOptions,
): Promise<string> {
  if (subPath.startsWith('/')) throw new Error(`error SubPath \`${subPath}\` must not be an absolute path`)
  checkNoBacksteps(subPath, (message) => `unable to provision SubPath \`${subPath}\`: ${message}`)
  const place = `for volumeMount ${JSON.stringify(mount.name)} of container ${JSON.stringify(container.name)}`
  if (!(await isPresent(join(path, subPath)))) {
    const { mode } = await stat(path)
    await hidden(`failed to create subPath directory ${place}`, log, () => safeMakeFolder(path, subPath, mode & 0o7777))
  }
  await hidden(`failed to prepare subPath ${place}`, log, () =>
    bindSubPath(mounter, { volumePath: path, subPath, target }),
  )
  return target
}

/** Anything but a missing file counts as present: binding it then fails. */
const isPresent = async (path: string): Promise<boolean> => {
  try {
    return (await stat(path).catch(undefinedIfMissing)) !== undefined
  } catch {
    return true
  }
}

/** The details could reveal files of the host to the user. */
async function hidden(message: string, log: (line: string) => void, action: () => Promise<void>): Promise<void> {
  try {
    await action()
  } catch (error) {
    log(`${message}: ${(error as Error).message}`)
    throw new Error(message)
  }
}

const absolute = (path: string): string => (path.startsWith('/') ? path : `/${path}`)
