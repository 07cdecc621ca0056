/** The identity of a StatefulSet's pod: its ordinal, name and labels. */
import type { Pod, StatefulSet } from '../../client/kinds.ts'

export const podNameLabel = 'statefulset.kubernetes.io/pod-name'
export const podIndexLabel = 'apps.kubernetes.io/pod-index'
/** The label with the name of a pod's revision. */
export const revisionLabel = 'controller-revision-hash'

const memberName = /^(.*)-([0-9]+)$/
const greatestOrdinal = 2 ** 31 - 1

/** The ordinal of a pod; undefined if its name does not have the set's format. */
export function ordinalOf(set: StatefulSet, { metadata: { name = '' } }: Pod): number | undefined {
  const [, parent, digits] = memberName.exec(name) ?? []
  if (digits === undefined || parent !== set.metadata.name) return undefined
  const ordinal = Number(digits)
  return ordinal <= greatestOrdinal && name === podName(set, ordinal) ? ordinal : undefined
}

export const podName = ({ metadata }: StatefulSet, ordinal: number): string => `${metadata.name}-${ordinal}`

export const replicasOf = ({ spec }: StatefulSet): number => spec?.replicas ?? 1

export const startOf = ({ spec }: StatefulSet): number => spec?.ordinals?.start ?? 0

/** Returns true if the ordinal is within the set's replicas. */
export const isDesired = (set: StatefulSet, ordinal: number): boolean =>
  ordinal >= startOf(set) && ordinal < startOf(set) + replicasOf(set)

export const revisionNameOf = ({ metadata }: Pod): string | undefined => metadata.labels?.[revisionLabel]
