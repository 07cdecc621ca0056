/** Computes how long a pod tolerates the `NoExecute` taints of its node. */
import type { Node, Pod } from '../../../client/kinds.ts'
import { tolerates } from '../../../machinery/selectors/toleration.ts'

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number]

/** Time in seconds until the pod is evicted: 0 for immediately, Infinity for never. */
export function toleratedSeconds({ spec }: Pod, taints: readonly Taint[]): number {
  const noExecute = taints.filter(({ effect }) => effect === 'NoExecute')
  // The first toleration that matches a taint counts.
  const used = noExecute.map((taint) => spec?.tolerations?.find((toleration) => tolerates(toleration, taint)))
  return Math.min(
    Number.POSITIVE_INFINITY,
    ...used.map((toleration) =>
      toleration ? Math.max(0, Number(toleration.tolerationSeconds ?? Number.POSITIVE_INFINITY)) : 0,
    ),
  )
}
