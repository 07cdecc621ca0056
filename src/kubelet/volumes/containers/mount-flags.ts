/** How a container sees a mount: propagation, and read-only with what is mounted inside. */
import { MountPropagation } from '#protobuf/cri-values_pb.js'
import type { Container } from '../../pod-types.ts'

export type VolumeMount = NonNullable<Container['volumeMounts']>[number]

/** Throws an Error for an unknown mode. */
export function propagationOf(mode: string | undefined): MountPropagation {
  switch (mode) {
    case undefined:
    case 'None':
      return MountPropagation.PROPAGATION_PRIVATE
    case 'HostToContainer':
      return MountPropagation.PROPAGATION_HOST_TO_CONTAINER
    case 'Bidirectional':
      return MountPropagation.PROPAGATION_BIDIRECTIONAL
  }
  throw new Error(`invalid MountPropagation mode: ${JSON.stringify(mode)}`)
}

/**
 * Resolves with true if mounts inside the mount are read-only, too (KEP-3857). `isSupported` resolves with true if the
 * runtime can do that. Rejects with upstream's message if it is required but not possible.
 */
export async function isRecursiveReadOnly(mount: VolumeMount, isSupported: () => Promise<boolean>): Promise<boolean> {
  const { name, readOnly, mountPropagation = 'None', recursiveReadOnly = 'Disabled' } = mount
  if (recursiveReadOnly === 'Disabled') return false
  const failed = 'failed to resolve recursive read-only mode:'
  const requested = `${failed} volume ${JSON.stringify(name)} requested recursive read-only mode, but it is`
  if (!readOnly) throw new Error(`${requested} not read-only`)
  if (mountPropagation !== 'None')
    throw new Error(`${requested} not compatible with propagation ${JSON.stringify(mountPropagation)}`)
  if (recursiveReadOnly === 'IfPossible') return isSupported()
  if (recursiveReadOnly !== 'Enabled')
    throw new Error(`${failed} unknown recursive read-only mode ${JSON.stringify(recursiveReadOnly)}`)
  if (!(await isSupported())) throw new Error(`${requested} not supported by the runtime`)
  return true
}
