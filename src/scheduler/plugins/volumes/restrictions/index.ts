/**
 * VolumeRestrictions: disks that only one pod on a node can use, and claims that only one pod in the cluster can use.
 */
import { type PersistentVolumeClaim, type Pod, persistentVolumeClaims } from '../../../../client/kinds.ts'
import {
  type Handle,
  type NodeInfo,
  on,
  type Plugin,
  PodInfo,
  pluginFactory,
  skip,
  unresolvable,
  unschedulable,
} from '../../../framework/index.ts'
import { claimNameOf, usesClaim } from '../pod-volumes.ts'
import { clash, isExclusiveKind } from './clash.ts'

interface Filtering {
  /** Keys of the pod's claims with access mode ReadWriteOncePod. */
  readonly exclusive: ReadonlySet<string>
  /** The number of pods that use them. */
  users: number
}

const noDisk = unschedulable('node(s) had no available disk')
const inUse = unschedulable(
  'node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode',
)

export const volumeRestrictions = pluginFactory({ name: 'VolumeRestrictions', make })

function make(_: undefined, handle: Handle): Plugin<Filtering> {
  const claims = handle.lister(persistentVolumeClaims)
  const keyOf = ({ metadata }: PersistentVolumeClaim): string => `${metadata.namespace}/${metadata.name}`
  const isExclusive = (claim: PersistentVolumeClaim): boolean =>
    claim.spec?.accessModes?.includes('ReadWriteOncePod') ?? false
  const share = (pod: PodInfo, exclusive: ReadonlySet<string>): number =>
    pod.claims.filter((key) => exclusive.has(key)).length

  return {
    events: [
      on('Pod', ['Delete'], (pod, before) => before !== undefined && podMayHelp(pod, before)),
      on('Node', ['Add']),
      on('PersistentVolumeClaim', ['Add', 'Update'], (pod, _before, after) => usesClaim(pod, after)),
    ],

    preFilter(pod, snapshot) {
      const exclusive = new Set<string>()
      for (const volume of pod.pod.spec?.volumes ?? []) {
        const name = claimNameOf(pod, volume)
        if (name === undefined) continue
        const claim = claims.get(pod.namespace, name)
        // VolumeBinding waits for the claim of an ephemeral volume.
        if (!claim && !volume.ephemeral) return unresolvable(`persistentvolumeclaim "${name}" not found`)
        if (claim && isExclusive(claim)) exclusive.add(keyOf(claim))
      }
      const users = [...exclusive].filter((key) => snapshot.isClaimUsed(key)).length
      if (exclusive.size === 0 && !pod.pod.spec?.volumes?.some(isExclusiveKind)) return skip
      return { state: { exclusive, users } }
    },
    copyState: (state) => ({ ...state }),
    addPod(state, _pod, added) {
      state.users += share(added, state.exclusive)
    },
    removePod(state, _pod, removed) {
      state.users -= share(removed, state.exclusive)
    },

    filter({ users }, pod, node) {
      if (hasClash(pod, node)) return noDisk
      return users > 0 ? inUse : undefined
    },
  }

  function podMayHelp(pod: PodInfo, deleted: Pod): boolean {
    const before = new PodInfo(deleted)
    if (before.claims.some((key) => pod.claims.includes(key))) return true
    return (
      pod.pod.spec?.volumes?.some((volume) => deleted.spec?.volumes?.some((other) => clash(volume, other))) ?? false
    )
  }
}

function hasClash({ pod }: PodInfo, { pods }: NodeInfo): boolean {
  const volumes = pod.spec?.volumes?.filter(isExclusiveKind) ?? []
  return volumes.some((volume) => pods.some((other) => other.pod.spec?.volumes?.some((one) => clash(volume, one))))
}
