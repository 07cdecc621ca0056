/** On which nodes a DaemonSet has a pod. */
import type { DaemonSet, Node } from '../../../client/kinds.ts'
import { choosesNode } from './node-affinity.ts'
import { daemonTolerations, type Taint, tolerates } from './tolerations.ts'

export interface Placement {
  /** A pod shall be there. */
  readonly runs: boolean
  /** One that is there may stay. */
  readonly stays: boolean
}

const nowhere: Placement = { runs: false, stays: false }

/** A function that says of a node whether the set's pods belong there. */
export function placementOf({ spec }: DaemonSet): (node: Node | undefined) => Placement {
  const pod = spec?.template.spec ?? { containers: [] }
  const tolerations = daemonTolerations(pod)
  const isBorne = (taint: Taint): boolean => tolerations.some((toleration) => tolerates(toleration, taint))
  return (node) => {
    if (!node || (pod.nodeName && pod.nodeName !== node.metadata.name) || !choosesNode(pod, node)) return nowhere
    const effects = new Set((node.spec?.taints ?? []).filter((taint) => !isBorne(taint)).map(({ effect }) => effect))
    const stays = !effects.has('NoExecute')
    return { runs: stays && !effects.has('NoSchedule'), stays }
  }
}

export const isSamePlacement = (a: Placement, b: Placement): boolean => a.runs === b.runs && a.stays === b.stays
