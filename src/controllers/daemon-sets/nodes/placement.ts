/** Decides on which nodes a DaemonSet's pods run. */
import type { DaemonSet, Node } from '../../../client/kinds.ts'
import { requiredNodes } from '../../../machinery/selectors/node-selector.ts'
import { isTolerated } from '../../../machinery/selectors/toleration.ts'
import { daemonTolerations } from './tolerations.ts'

export interface Placement {
  /** True if the node must have a pod. */
  readonly runs: boolean
  /** True if an existing pod may remain. */
  readonly stays: boolean
}

const nowhere: Placement = { runs: false, stays: false }

/** Returns a function that decides if the set's pods run or may remain on a node. */
export function placementOf({ spec }: DaemonSet): (node: Node | undefined) => Placement {
  const pod = spec?.template.spec ?? { containers: [] }
  const tolerations = daemonTolerations(pod)
  const matchesNode = requiredNodes(pod)
  return (node) => {
    if (!node || (pod.nodeName && pod.nodeName !== node.metadata.name) || matchesNode?.(node) === false) return nowhere
    const effects = new Set(
      (node.spec?.taints ?? []).filter((taint) => !isTolerated(taint, tolerations)).map(({ effect }) => effect),
    )
    const stays = !effects.has('NoExecute')
    return { runs: stays && !effects.has('NoSchedule'), stays }
  }
}

export const isSamePlacement = (a: Placement, b: Placement): boolean => a.runs === b.runs && a.stays === b.stays
