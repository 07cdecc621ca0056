/** The user who owns the files of a pod's credentials. */
import { allContainers, type Pod, specOf } from '../../pod-types.ts'

/** The UID that all containers run as. Undefined if one has none in its spec, or if they differ. */
export function fileOwner(pod: Pod): number | undefined {
  const ofPod = specOf(pod).securityContext?.runAsUser
  const users = new Set(allContainers(pod).map(({ securityContext }) => securityContext?.runAsUser ?? ofPod))
  const [only] = users
  return users.size === 1 ? only : undefined
}

export const fsGroupOf = (pod: Pod): number | undefined => specOf(pod).securityContext?.fsGroup

/**
 * The mode of a file with a credential: private if it has an owner of its own or a group, which gets its bits with the
 * group (KEP-1205).
 */
export const credentialMode = (pod: Pod, mode: number): number =>
  fileOwner(pod) === undefined && fsGroupOf(pod) === undefined ? mode : 0o600
