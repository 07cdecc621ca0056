/**
 * TaintToleration: pods stay away from nodes whose taints they do not tolerate, and rather away from those that would
 * rather have others.
 */
import type { Node } from '../../../client/kinds.ts'
import { isTolerated, preventsScheduling, type Toleration } from '../../../machinery/selectors/toleration.ts'
import { on, type Plugin, type PodInfo, pluginFactory, type Taint, unresolvable } from '../../framework/index.ts'
import { inReverseProportion } from '../normalize.ts'

/** The first taint that keeps the pod away. */
const untolerated = (taints: readonly Taint[] | undefined, { pod }: PodInfo): Taint | undefined =>
  taints?.find((taint) => preventsScheduling(taint) && !isTolerated(taint, pod.spec?.tolerations))

const isKeptAway = (node: Node, pod: PodInfo): boolean => untolerated(node.spec?.taints, pod) !== undefined

/** Which taint it is stays unsaid: who may read a pod need not know the nodes' taints, as of Kubernetes 1.35. */
const notTolerated = unresolvable('node(s) had untolerated taint(s)')

const noTolerations: readonly Toleration[] = []

export const taintToleration = pluginFactory({
  name: 'TaintToleration',
  make(): Plugin<undefined, readonly Toleration[]> {
    return {
      events: [
        on(
          'Node',
          ['Add', 'UpdateTaint'],
          (pod, before, after) =>
            after !== undefined && (!before || isKeptAway(before, pod)) && !isKeptAway(after, pod),
        ),
        on('Pod', ['UpdateToleration'], (pod, _, after) => after?.metadata.uid === pod.uid),
      ],
      filter(_state, pod, { taints }) {
        if (taints.length === 0) return undefined
        return untolerated(taints, pod) && notTolerated
      },
      preScore: ({ pod }) => ({
        state: pod.spec?.tolerations?.filter(({ effect }) => !effect || effect === 'PreferNoSchedule') ?? noTolerations,
      }),
      score(tolerations, _pod, { taints }) {
        let count = 0
        for (const taint of taints) if (taint.effect === 'PreferNoSchedule' && !isTolerated(taint, tolerations)) count++
        return count
      },
      normalize: (_state, _pod, scores) => inReverseProportion(scores),
    }
  },
})
