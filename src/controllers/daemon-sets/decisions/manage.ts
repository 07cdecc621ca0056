/**
 * Decides which nodes get a pod of a DaemonSet, and which pods go because they are too many, have ended, or are where
 * they do not belong.
 */
import type { Node, Pod } from '../../../client/kinds.ts'
import { isReady } from '../../pods/phase.ts'
import { hashLabel } from '../daemon-pod.ts'
import { allowsSurge, bySeniority, type DaemonSituation, isDeleted, isPodAvailable, nameOf } from './situation.ts'

export interface EndedPod {
  readonly pod: Pod
  readonly node: string
}

export interface PodChanges {
  /** Names of nodes that get a pod. */
  readonly create: readonly string[]
  readonly remove: readonly Pod[]
}

export interface DaemonPlan extends PodChanges {
  /** Pods that have failed: they go too, but not too often on one node. */
  readonly failed: readonly EndedPod[]
  /** Pods that have ended well: daemons should not. They go too. */
  readonly succeeded: readonly EndedPod[]
}

/** What has to be done whether there is an update or not. */
export function manage(situation: DaemonSituation): DaemonPlan {
  const plans = situation.nodes.map((node) => manageNode(node, situation))
  return {
    create: plans.flatMap(({ create }) => create),
    remove: [...plans.flatMap(({ remove }) => remove), ...podsWithoutNode(situation)],
    failed: plans.flatMap(({ failed }) => failed),
    succeeded: plans.flatMap(({ succeeded }) => succeeded),
  }
}

function manageNode(node: Node, situation: DaemonSituation): DaemonPlan {
  const name = nameOf(node)
  const pods = situation.pods.get(name) ?? []
  const { runs, stays } = situation.placement(node)
  const present = pods.filter((pod) => !isDeleted(pod))
  const plan: DaemonPlan = { create: [], remove: [], failed: [], succeeded: [] }
  // One that goes has to be gone before the next comes.
  if (runs && pods.length === 0) return { ...plan, create: [name] }
  if (!stays) return { ...plan, remove: present }
  const inPhase = (phase: string): EndedPod[] =>
    present.filter(({ status }) => status?.phase === phase).map((pod) => ({ pod, node: name }))
  const failed = inPhase('Failed')
  const succeeded = inPhase('Succeeded')
  const running = present
    .filter((pod) => ![...failed, ...succeeded].some((ended) => ended.pod === pod))
    .sort(bySeniority)
  if (!allowsSurge(situation.set)) return { ...plan, failed, succeeded, remove: running.slice(1) }
  // While it surges, a node has at least one pod that is not going.
  const create = running.length === 0 && runs ? [name] : []
  return { create, failed, succeeded, remove: running.length > 1 ? beyondSurge(running, situation) : [] }
}

/**
 * Of several pods on a node the oldest of the newest revision stays, and, until it is available, the oldest of another
 * as long as that is ready.
 */
function beyondSurge(running: readonly Pod[], situation: DaemonSituation): Pod[] {
  const isNew = (pod: Pod): boolean => pod.metadata.labels?.[hashLabel] === situation.hash
  const newest = running.find(isNew)
  const old = running.find((pod) => !isNew(pod))
  const isReplaced = newest && old && (!isReady(old) || isPodAvailable(newest, situation))
  return running.filter((pod) => pod !== newest && (pod !== old || isReplaced))
}

/** Nobody else takes pods away that wait for a node that is no more. */
function podsWithoutNode({ nodes, pods }: DaemonSituation): Pod[] {
  const names = new Set(nodes.map(nameOf))
  return [...pods].flatMap(([node, of]) =>
    names.has(node) ? [] : of.filter((pod) => !pod.spec?.nodeName && !isDeleted(pod)),
  )
}
