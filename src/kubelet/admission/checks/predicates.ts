/** The checks of a pod against its node that the scheduler makes, too (upstream's predicates). */
import type { Node } from '../../../client/kinds.ts'
import { requiredNodes } from '../../../machinery/selectors/node-selector.ts'
import { isTolerated } from '../../../machinery/selectors/toleration.ts'
import { allContainers, isSidecar, type Pod, specOf } from '../../pod-types.ts'
import { isStatic } from '../../sources/static-pods/annotations.ts'
import type { Rejection } from '../rejection.ts'
import { type Shortage, shortages } from './resources.ts'

/** Why a node cannot run a pod: too little of a resource, or another reason. */
export type Misfit = { readonly shortage: Shortage } | { readonly predicate: string; readonly text: string }

const texts = {
  NodeAffinity: "node(s) didn't match Pod's node affinity/selector",
  NodeName: "node(s) didn't match the requested node name",
  NodePorts: "node(s) didn't have free ports for the requested pod ports",
  TaintToleration: "node(s) had taints that the pod didn't tolerate",
} as const

/** Returns all misfits, in upstream's order. `others` are the other pods of the node. */
export function misfits(pod: Pod, node: Node, others: readonly Pod[]): readonly Misfit[] {
  const spec = specOf(pod)
  const failed = (name: keyof typeof texts, hasFailed: boolean): Misfit[] =>
    hasFailed ? [{ predicate: name, text: texts[name] }] : []
  return [
    ...shortages(pod, others, node.status?.allocatable ?? {}).map((shortage) => ({ shortage })),
    ...failed('NodeAffinity', requiredNodes(spec)?.(node) === false),
    ...failed('NodeName', Boolean(spec.nodeName) && spec.nodeName !== node.metadata.name),
    ...failed('NodePorts', hasPortConflict(pod, others)),
    ...failed('TaintToleration', !isStatic(pod) && isDrivenAway(pod, node)),
  ]
}

export const isAffinityMisfit = (misfit: Misfit): boolean =>
  'predicate' in misfit && misfit.predicate === ('NodeAffinity' satisfies keyof typeof texts)

export function rejectionOf(misfit: Misfit): Rejection {
  if ('predicate' in misfit)
    return { reason: misfit.predicate, message: `Predicate ${misfit.predicate} failed: ${misfit.text}` }
  const { resource, requested, used, capacity } = misfit.shortage
  const amounts = `requested: ${requested}, used: ${used}, capacity: ${capacity}`
  return { reason: `OutOf${resource}`, message: `Node didn't have enough resource: ${resource}, ${amounts}` }
}

/** A kubelet heeds only taints that also end running pods. */
const isDrivenAway = (pod: Pod, { spec }: Node): boolean =>
  (spec?.taints ?? []).some((taint) => taint.effect === 'NoExecute' && !isTolerated(taint, specOf(pod).tolerations))

interface HostPort {
  readonly ip: string
  readonly protocol: string
  readonly port: number
}

const anyIp = '0.0.0.0'

/** The ports that a pod takes on its node. */
function hostPorts(pod: Pod): HostPort[] {
  const { containers, initContainers = [] } = specOf(pod)
  const running = allContainers(pod).filter(
    (one) => containers.includes(one) || (initContainers.includes(one) && isSidecar(one)),
  )
  return running.flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort, hostIP, protocol }) =>
      hostPort ? [{ ip: hostIP || anyIp, protocol: protocol || 'TCP', port: hostPort }] : [],
    ),
  )
}

function hasPortConflict(pod: Pod, others: readonly Pod[]): boolean {
  const wanted = hostPorts(pod)
  if (wanted.length === 0) return false
  const taken = others.flatMap(hostPorts)
  return wanted.some(({ ip, protocol, port }) =>
    taken.some(
      (other) =>
        other.port === port && other.protocol === protocol && (other.ip === ip || other.ip === anyIp || ip === anyIp),
    ),
  )
}
