/** How long a pod tolerates the taints of its node that drive pods away (`NoExecute`). */
import type { Node, Pod } from '../../../client/kinds.ts'

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number]
type Toleration = NonNullable<NonNullable<Pod['spec']>['tolerations']>[number]

const tolerates = ({ key = '', operator = 'Equal', value = '', effect = '' }: Toleration, taint: Taint): boolean => {
  if ((effect !== '' && effect !== taint.effect) || (key !== '' && key !== taint.key)) return false
  switch (operator) {
    case 'Exists':
      return true
    case 'Lt':
    case 'Gt': {
      const [theirs, ours] = [Number(taint.value ?? Number.NaN), Number(value)]
      return operator === 'Lt' ? theirs < ours : theirs > ours
    }
    default:
      return key !== '' && value === (taint.value ?? '')
  }
}

/** Seconds from when it was driven away: 0 for at once, Infinity for always. */
export function toleratedSeconds({ spec }: Pod, taints: readonly Taint[]): number {
  const driving = taints.filter(({ effect }) => effect === 'NoExecute')
  // Of several tolerations that fit a taint, the first counts.
  const used = driving.map((taint) => spec?.tolerations?.find((toleration) => tolerates(toleration, taint)))
  return Math.min(
    Number.POSITIVE_INFINITY,
    ...used.map((toleration) => (toleration ? Math.max(0, toleration.tolerationSeconds ?? Number.POSITIVE_INFINITY) : 0)),
  )
}
