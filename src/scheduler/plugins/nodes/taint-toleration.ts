/** TaintToleration: rejects nodes with taints that the pod does not tolerate, and scores by PreferNoSchedule taints. */
import type { Node } from '../../../client/kinds.ts'
import { isTolerated, preventsScheduling, type Toleration } from '../../../machinery/selectors/toleration.ts'
import { on, type Plugin, type PodInfo, pluginFactory, type Taint, unresolvable } from '../../framework/index.ts'
import { scaleReversed } from '../normalize.ts'

/** The first taint that the pod does not tolerate. */
const untolerated = (taints: readonly Taint[] | undefined, { pod }: PodInfo): Taint | undefined =>
  taints?.find((taint) => preventsScheduling(taint) && !isTolerated(taint, pod.spec?.tolerations))

const isKeptAway = (node: Node, pod: PodInfo): boolean => untolerated(node.spec?.taints, pod) !== undefined

/** The taint is not named, as of Kubernetes 1.35: readers of a pod may not be allowed to read nodes. */
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
      normalize: (_state, _pod, scores) => scaleReversed(scores),
    }
  },
})
