/** On which nodes a DaemonSet has a pod. */
import type { DaemonSet, Node } from '../../../client/kinds.ts'
import { requiredNodes } from '../../../machinery/selectors/node-selector.ts'
import { isTolerated } from '../../../machinery/selectors/toleration.ts'
import { daemonTolerations } from './tolerations.ts'

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
  const isChosen = requiredNodes(pod)
  return (node) => {
    if (!node || (pod.nodeName && pod.nodeName !== node.metadata.name) || isChosen?.(node) === false) return nowhere
    const effects = new Set(
      (node.spec?.taints ?? []).filter((taint) => !isTolerated(taint, tolerations)).map(({ effect }) => effect),
    )
    const stays = !effects.has('NoExecute')
    return { runs: stays && !effects.has('NoSchedule'), stays }
  }
}

export const isSamePlacement = (a: Placement, b: Placement): boolean => a.runs === b.runs && a.stays === b.stays
