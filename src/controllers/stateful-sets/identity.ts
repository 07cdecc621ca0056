/** Who a pod of a StatefulSet is: its ordinal, and what follows from it. */
import type { Pod, StatefulSet } from '../../client/kinds.ts'

export const podNameLabel = 'statefulset.kubernetes.io/pod-name'
export const podIndexLabel = 'apps.kubernetes.io/pod-index'
/** Names the revision that a pod is of. */
export const revisionLabel = 'controller-revision-hash'

const memberName = /^(.*)-([0-9]+)$/
const greatestOrdinal = 2 ** 31 - 1

/** The ordinal of a pod of that set; undefined where its name is not one that the set gives. */
export function ordinalOf(set: StatefulSet, { metadata: { name = '' } }: Pod): number | undefined {
  const [, parent, digits] = memberName.exec(name) ?? []
  if (digits === undefined || parent !== set.metadata.name) return undefined
  const ordinal = Number(digits)
  return ordinal <= greatestOrdinal && name === podName(set, ordinal) ? ordinal : undefined
}

export const podName = ({ metadata }: StatefulSet, ordinal: number): string => `${metadata.name}-${ordinal}`

export const replicasOf = ({ spec }: StatefulSet): number => spec?.replicas ?? 1

export const startOf = ({ spec }: StatefulSet): number => spec?.ordinals?.start ?? 0

/** Whether the set wants a pod of that ordinal. */
export const isWanted = (set: StatefulSet, ordinal: number): boolean =>
  ordinal >= startOf(set) && ordinal < startOf(set) + replicasOf(set)

export const revisionNameOf = ({ metadata }: Pod): string | undefined => metadata.labels?.[revisionLabel]
