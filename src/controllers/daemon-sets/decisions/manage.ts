/** Decides which nodes get a pod of a DaemonSet and which pods are surplus, ended or on ineligible nodes. */
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
  /** Failed pods to delete, subject to the back-off of their node. */
  readonly failed: readonly EndedPod[]
  /** Succeeded pods to delete: daemons should not end. */
  readonly succeeded: readonly EndedPod[]
}

/** Returns the changes that do not depend on an update. */
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
  const remaining = pods.filter((pod) => !isDeleted(pod))
  const plan: DaemonPlan = { create: [], remove: [], failed: [], succeeded: [] }
  // A terminating pod must be deleted before the next one is created.
  if (runs && pods.length === 0) return { ...plan, create: [name] }
  if (!stays) return { ...plan, remove: remaining }
  const inPhase = (phase: string): EndedPod[] =>
    remaining.filter(({ status }) => status?.phase === phase).map((pod) => ({ pod, node: name }))
  const failed = inPhase('Failed')
  const succeeded = inPhase('Succeeded')
  const running = remaining
    .filter((pod) => ![...failed, ...succeeded].some((ended) => ended.pod === pod))
    .sort(bySeniority)
  if (!allowsSurge(situation.set)) return { ...plan, failed, succeeded, remove: running.slice(1) }
  // During a surge, a node has at least one pod that is not terminating.
  const create = running.length === 0 && runs ? [name] : []
  return { create, failed, succeeded, remove: running.length > 1 ? beyondSurge(running, situation) : [] }
}

/**
 * Returns the surplus pods on a node. The most senior updated pod is retained and, until it is available, the most
 * senior old pod if that is ready.
 */
function beyondSurge(running: readonly Pod[], situation: DaemonSituation): Pod[] {
  const isNew = (pod: Pod): boolean => pod.metadata.labels?.[hashLabel] === situation.hash
  const newest = running.find(isNew)
  const old = running.find((pod) => !isNew(pod))
  const isReplaced = newest && old && (!isReady(old) || isPodAvailable(newest, situation))
  return running.filter((pod) => pod !== newest && (pod !== old || isReplaced))
}

/** Pods for deleted nodes: no other controller deletes them. */
function podsWithoutNode({ nodes, pods }: DaemonSituation): Pod[] {
  const names = new Set(nodes.map(nameOf))
  return [...pods].flatMap(([node, of]) =>
    names.has(node) ? [] : of.filter((pod) => !pod.spec?.nodeName && !isDeleted(pod)),
  )
}
