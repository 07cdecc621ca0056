/** Mounts of containers as the engine's. */
import { existsSync, lstatSync, mkdirSync } from 'node:fs'
import { type Mount, MountPropagation } from '#protobuf/cri-values_pb.js'

/** The versions of the API that have recursive read-only mounts, and that create missing folders. */
export const recursiveReadOnlyVersion = 44
const mountPointVersion = 42

/** Throws an Error for what Docker cannot do. Creates missing folders, as other runtimes do. */
export const engineMounts = (mounts: readonly Mount[], version: number): object[] =>
  mounts.map((mount) => engineMount(mount, version))

function engineMount(mount: Mount, version: number): object {
  const { hostPath, containerPath, readonly } = mount
  check(mount, version)
  if (!existsSync(hostPath) && !lstatSync(hostPath, { throwIfNoEntry: false })) mkdirSync(hostPath, { recursive: true })
  return {
    Type: 'bind',
    Source: hostPath,
    Target: containerPath,
    ReadOnly: readonly,
    BindOptions: {
      // By default, the engine chooses rprivate, or rslave for folders that its own are in.
      ...(mount.propagation !== MountPropagation.PROPAGATION_PRIVATE && {
        Propagation: propagationOf(mount.propagation),
      }),
      ...(version >= mountPointVersion && { CreateMountpoint: true }),
      // Since that version, engines make all mounts below it read-only, too.
      ...(readonly && version >= recursiveReadOnlyVersion && readOnlyOption(mount.recursiveReadOnly)),
    },
  }
}

const readOnlyOption = (isRecursive: boolean): object =>
  isRecursive ? { ReadOnlyForceRecursive: true } : { ReadOnlyNonRecursive: true }

function check({ image, uidMappings, recursiveReadOnly, readonly, propagation }: Mount, version: number): void {
  if (image?.image) throw new Error('volumes of images need another container runtime than Docker')
  if (uidMappings.length > 0)
    throw new Error('mounts with users of their own need another container runtime than Docker')
  if (!recursiveReadOnly) return
  if (version < recursiveReadOnlyVersion) throw new Error('recursive read-only mounts need Docker 25')
  if (!readonly) throw new Error('recursive_read_only conflicts with readonly == false')
  if (propagation !== MountPropagation.PROPAGATION_PRIVATE)
    throw new Error(`recursive_read_only conflicts with propagation ${propagationOf(propagation)}: it must be rprivate`)
}

function propagationOf(propagation: MountPropagation): string {
  if (propagation === MountPropagation.PROPAGATION_BIDIRECTIONAL) return 'rshared'
  return propagation === MountPropagation.PROPAGATION_HOST_TO_CONTAINER ? 'rslave' : 'rprivate'
}
