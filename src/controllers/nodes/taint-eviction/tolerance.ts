/** How long a pod tolerates the taints of its node that drive pods away (`NoExecute`). */
import type { Node, Pod } from '../../../client/kinds.ts'
import { tolerates } from '../../../machinery/selectors/toleration.ts'

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number]

/** Seconds from when it was driven away: 0 for at once, Infinity for always. */
export function toleratedSeconds({ spec }: Pod, taints: readonly Taint[]): number {
  const driving = taints.filter(({ effect }) => effect === 'NoExecute')
  // Of several tolerations that fit a taint, the first counts.
  const used = driving.map((taint) => spec?.tolerations?.find((toleration) => tolerates(toleration, taint)))
  return Math.min(
    Number.POSITIVE_INFINITY,
    ...used.map((toleration) =>
      toleration ? Math.max(0, Number(toleration.tolerationSeconds ?? Number.POSITIVE_INFINITY)) : 0,
    ),
  )
}
