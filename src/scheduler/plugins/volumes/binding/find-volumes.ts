/** Finds the volumes for a pod on a node: a pure function of its claims and the node. */
import type { CSIStorageCapacity, Node, PersistentVolume, PersistentVolumeClaim } from '../../../../client/kinds.ts'
import { type BoundClaim, type DelayedClaim, reaches } from './claims.ts'
import { type Provisioners, provisioning } from './provisioning.ts'

/** The bindings and provisions needed before the pod can start on the node. */
export interface PodVolumes {
  readonly bindings: readonly { readonly claim: PersistentVolumeClaim; readonly volume: PersistentVolume }[]
  readonly provisions: readonly { readonly claim: PersistentVolumeClaim; readonly capacity?: CSIStorageCapacity }[]
}

export const reasons = {
  conflict: "node(s) didn't match PersistentVolume's node affinity",
  nothingToBind: "node(s) didn't find available persistent volumes to bind",
  noRoom: 'node(s) did not have enough free storage',
  missingVolume: 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)',
} as const

/** Returns the volumes of a pod on a node, or the reasons why it cannot have them there. */
export function findVolumes(
  bound: readonly BoundClaim[],
  delayed: readonly DelayedClaim[],
  node: Node,
  provisioners: Provisioners,
): PodVolumes | { readonly reasons: readonly string[] } {
  const fault = boundFault(bound, node)
  const found = findDelayed(delayed, node, provisioners)
  if (fault === undefined && typeof found !== 'string') return found
  return { reasons: [fault, found].filter((reason) => typeof reason === 'string') }
}

function boundFault(bound: readonly BoundClaim[], node: Node): string | undefined {
  for (const { volume } of bound) {
    if (!volume) return reasons.missingVolume
    if (!reaches(volume)(node)) return reasons.conflict
  }
  return undefined
}

function findDelayed(delayed: readonly DelayedClaim[], node: Node, provisioners: Provisioners): PodVolumes | string {
  const bindings: { claim: PersistentVolumeClaim; volume: PersistentVolume }[] = []
  const provisions: { claim: PersistentVolumeClaim; capacity?: CSIStorageCapacity }[] = []
  const taken = new Set<PersistentVolume>()
  for (const one of delayed)
    if (one.selectedNode !== undefined && one.selectedNode !== node.metadata.name) return reasons.nothingToBind
  for (const { claim, storageClass, selectedNode, reserved, candidates } of delayed) {
    const suitable = (volume: PersistentVolume): boolean => !taken.has(volume) && reaches(volume)(node)
    // A volume reserved for the claim is the only choice.
    const volume = selectedNode === undefined ? (reserved ? [reserved] : candidates).find(suitable) : undefined
    if (volume) {
      taken.add(volume)
      bindings.push({ claim, volume })
      continue
    }
    const made = provisioning(claim, storageClass, node, provisioners)
    if (made.verdict !== 'possible') return made.verdict === 'no room' ? reasons.noRoom : reasons.nothingToBind
    provisions.push({ claim, ...(made.capacity && { capacity: made.capacity }) })
  }
  return { bindings, provisions }
}
