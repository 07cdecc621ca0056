/**
 * A pod's node that is not ready: why and since when, what becomes of the pod, and what to do. Words for `t8s why pod`.
 */
import type { Node, Pod } from '../../../client/kinds.ts'
import { isTolerated } from '../../../machinery/selectors/toleration.ts'
import { toleratedSeconds } from '../taint-eviction/tolerance.ts'

export interface NodeTrouble {
  readonly node: string
  /** Of the node's condition Ready. */
  readonly ready: {
    readonly status: string
    readonly reason?: string
    readonly message?: string
    readonly since?: string
  }
  /** `KEY=VALUE:EFFECT` */
  readonly taints: readonly string[]
  /** When the pod is evicted, about; `never` where it tolerates the taints for ever or none drives it away yet. */
  readonly evictedAt: string
  readonly lines: readonly string[]
}

/** Undefined for a node that is ready, and for a pod that has ended. */
export function nodeTrouble(pod: Pod, node: Node): NodeTrouble | undefined {
  if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') return undefined
  const { name = '' } = node.metadata
  const condition = node.status?.conditions?.find(({ type }) => type === 'Ready')
  if (condition?.status === 'True') return undefined
  const { status = 'missing', reason, message, lastTransitionTime: since } = condition ?? {}
  const taints = node.spec?.taints ?? []
  const { evictedAt, line } = fate(pod, taints)
  const written = taints.map(({ key, value, effect }) => `${key}${value ? `=${value}` : ''}:${effect}`)
  const cause = [reason, message].filter(Boolean).join(': ')
  return {
    node: name,
    ready: { status, ...(reason && { reason }), ...(message && { message }), ...(since && { since: `${since}` }) },
    taints: written,
    evictedAt,
    lines: [
      condition
        ? `the node ${name} is not ready: Ready is ${status}${since ? ` since ${since}` : ''}${cause && ` (${cause})`}`
        : `the node ${name} is not ready: it has no condition Ready, so no kubelet has reported from it yet`,
      ...(written.length > 0 ? [`its taints: ${written.join(', ')}`] : []),
      line,
      remedy(node, status),
    ],
  }
}

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number]

function fate(pod: Pod, taints: readonly Taint[]): { readonly evictedAt: string; readonly line: string } {
  const driving = taints.filter(({ effect }) => effect === 'NoExecute')
  if (driving.length === 0)
    return { evictedAt: 'never', line: 'no taint of it drives pods away (NoExecute) yet: the pod stays' }
  const keys = driving.map(({ key }) => key).join(' and ')
  const seconds = toleratedSeconds(pod, driving)
  if (seconds === Number.POSITIVE_INFINITY)
    return { evictedAt: 'never', line: `the pod tolerates ${keys} for ever: it stays` }
  if (seconds === 0) {
    const untolerated = driving.filter((taint) => !isTolerated(taint, pod.spec?.tolerations)).map(({ key }) => key)
    return {
      evictedAt: 'now',
      line: `the pod does not tolerate ${untolerated.join(' and ') || keys}: it is evicted at once`,
    }
  }
  const added = Math.max(...driving.map(({ timeAdded }) => (timeAdded ? Date.parse(`${timeAdded}`) : Number.NaN)))
  const evictedAt = Number.isNaN(added)
    ? 'unknown'
    : new Date(added + seconds * 1000).toISOString().replace('.000Z', 'Z')
  const when = evictedAt === 'unknown' ? `${seconds} s after the taint was added` : `at ${evictedAt}`
  return {
    evictedAt,
    line:
      `the pod tolerates ${keys} for ${seconds} s (tolerationSeconds): it is evicted ${when}, unless the node is ` +
      'ready before',
  }
}

function remedy({ metadata: { name, labels } }: Node, status: string): string {
  if (labels?.['simulation.typernetes.io/node'] !== undefined)
    return `next: t8s node recover ${name}, or start what simulates it again`
  return status === 'False'
    ? `next: kubectl describe node ${name}, and the kubelet's log there (journalctl -u kubelet): it says what it ` +
        'waits for'
    : `next: see that the machine ${name} runs, reaches the API server, and has a running kubelet (systemctl ` +
        'status kubelet)'
}
