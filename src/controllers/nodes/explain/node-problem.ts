/** Explains an unready node of a pod for `t8s why pod`: the cause, the pod's eviction, and what to do. */
import type { Node, Pod } from '../../../client/kinds.ts'
import { isTolerated } from '../../../machinery/selectors/toleration.ts'
import { toleratedSeconds } from '../taint-eviction/tolerance.ts'

export interface NodeProblem {
  readonly node: string
  /** From the node's Ready condition. */
  readonly ready: {
    readonly status: string
    readonly reason?: string
    readonly message?: string
    readonly since?: string
  }
  /** `KEY=VALUE:EFFECT` */
  readonly taints: readonly string[]
  /** Approximate eviction time of the pod; `now`, `unknown`, or `never` if it tolerates all NoExecute taints. */
  readonly evictedAt: string
  readonly lines: readonly string[]
}

/** Undefined if the node is ready or the pod has ended. */
export function nodeProblem(pod: Pod, node: Node): NodeProblem | undefined {
  if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') return undefined
  const { name = '' } = node.metadata
  const condition = node.status?.conditions?.find(({ type }) => type === 'Ready')
  if (condition?.status === 'True') return undefined
  const { status = 'missing', reason, message, lastTransitionTime: since } = condition ?? {}
  const taints = node.spec?.taints ?? []
  const { evictedAt, line } = evictionForecast(pod, taints)
  const taintTexts = taints.map(({ key, value, effect }) => `${key}${value ? `=${value}` : ''}:${effect}`)
  const cause = [reason, message].filter(Boolean).join(': ')
  return {
    node: name,
    ready: { status, ...(reason && { reason }), ...(message && { message }), ...(since && { since: `${since}` }) },
    taints: taintTexts,
    evictedAt,
    lines: [
      condition
        ? `the node ${name} is not ready: Ready is ${status}${since ? ` since ${since}` : ''}${cause && ` (${cause})`}`
        : `the node ${name} is not ready: it has no condition Ready, so no kubelet has reported from it yet`,
      ...(taintTexts.length > 0 ? [`its taints: ${taintTexts.join(', ')}`] : []),
      line,
      remedy(node, status),
    ],
  }
}

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number]

function evictionForecast(pod: Pod, taints: readonly Taint[]): { readonly evictedAt: string; readonly line: string } {
  const noExecute = taints.filter(({ effect }) => effect === 'NoExecute')
  if (noExecute.length === 0)
    return { evictedAt: 'never', line: 'it has no NoExecute taint yet: the pod is not evicted' }
  const keys = noExecute.map(({ key }) => key).join(' and ')
  const seconds = toleratedSeconds(pod, noExecute)
  if (seconds === Number.POSITIVE_INFINITY)
    return { evictedAt: 'never', line: `the pod tolerates ${keys} forever: it is not evicted` }
  if (seconds === 0) {
    const untolerated = noExecute.filter((taint) => !isTolerated(taint, pod.spec?.tolerations)).map(({ key }) => key)
    return {
      evictedAt: 'now',
      line: `the pod does not tolerate ${untolerated.join(' and ') || keys}: it is evicted immediately`,
    }
  }
  const added = Math.max(...noExecute.map(({ timeAdded }) => (timeAdded ? Date.parse(`${timeAdded}`) : Number.NaN)))
  const evictedAt = Number.isNaN(added)
    ? 'unknown'
    : new Date(added + seconds * 1000).toISOString().replace('.000Z', 'Z')
  const when = evictedAt === 'unknown' ? `${seconds} s after the taint was added` : `at ${evictedAt}`
  return {
    evictedAt,
    line:
      `the pod tolerates ${keys} for ${seconds} s (tolerationSeconds): it is evicted ${when}, unless the node ` +
      'becomes ready before',
  }
}

function remedy({ metadata: { name, labels } }: Node, status: string): string {
  if (labels?.['simulation.typernetes.io/node'] !== undefined)
    return `next: t8s node recover ${name}, or restart its simulator`
  return status === 'False'
    ? `next: run kubectl describe node ${name}, and read the kubelet's log there (journalctl -u kubelet)`
    : `next: check that the machine ${name} runs, reaches the API server, and has a running kubelet (systemctl ` +
        'status kubelet)'
}
