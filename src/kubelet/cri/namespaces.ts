/** The Linux namespaces of a pod's sandbox and containers. */
import type { MessageInitShape } from '@bufbuild/protobuf'
import { type IDMappingSchema, NamespaceMode, type NamespaceOptionSchema } from '#protobuf/cri-values_pb.js'
import { type Pod, specOf } from '../pod-types.ts'
import type { MountInitShape } from './mounts.ts'

export type NamespaceOptions = MessageInitShape<typeof NamespaceOptionSchema>

/** The range of the node's IDs that the IDs of a pod are mapped to. */
export interface MappedIds {
  readonly first: number
  readonly length: number
}

/**
 * The namespaces of a pod. Containers have process IDs of their own unless the pod shares them. Without `ids` its users
 * are those of the node.
 */
export function namespacesOf(pod: Pod, ids?: MappedIds): NamespaceOptions {
  const { hostNetwork, hostPID, hostIPC, shareProcessNamespace } = specOf(pod)
  return {
    network: hostNetwork ? NamespaceMode.NODE : NamespaceMode.POD,
    ipc: hostIPC ? NamespaceMode.NODE : NamespaceMode.POD,
    pid: hostPID ? NamespaceMode.NODE : shareProcessNamespace ? NamespaceMode.POD : NamespaceMode.CONTAINER,
    usernsOptions: ids
      ? { mode: NamespaceMode.POD, uids: [mappingOf(ids)], gids: [mappingOf(ids)] }
      : { mode: NamespaceMode.NODE },
  }
}

const mappingOf = ({ first, length }: MappedIds): MessageInitShape<typeof IDMappingSchema> => ({
  hostId: first,
  containerId: 0,
  length,
})

/** An ephemeral container shares the processes of the container that it debugs, if it names one. */
export const targetedNamespaces = (namespaces: NamespaceOptions, targetId: string | undefined): NamespaceOptions =>
  targetId ? { ...namespaces, pid: NamespaceMode.TARGET, targetId } : namespaces

/** Mounts of a container whose users are mapped: the owners of files are those that the container knows. */
export function mappedMounts(
  mounts: readonly MountInitShape[],
  { usernsOptions }: NamespaceOptions,
): readonly MountInitShape[] {
  const { uids = [], gids = [] } = usernsOptions ?? {}
  return uids.length > 0 ? mounts.map((mount) => ({ ...mount, uidMappings: uids, gidMappings: gids })) : mounts
}
