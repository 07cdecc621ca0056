/** Which pods would have to go from one node for a pod to fit there: as few and as unimportant ones as possible. */
import {
  type Cycle,
  type NodeInfo,
  type PodInfo,
  type Rejection,
  unresolvable,
  type Victims,
} from '../../framework/index.ts'
import { type Budget, splitByBudgets } from './budgets.ts'
import { byImportance } from './importance.ts'

const nobodyToEvict = unresolvable('No preemption victims found for incoming pod')

/** The victims, or why eviction does not help on this node. Nothing is changed: it is tried on copies. */
export function victimsOn(original: Cycle, node: NodeInfo, budgets: readonly Budget[]): Victims | Rejection {
  const { pod } = original
  const candidates = node.pods.filter(({ priority }) => priority < pod.priority)
  if (candidates.length === 0) return { plugin: 'DefaultPreemption', status: nobodyToEvict }
  const cycle = original.copy()
  const room = node.copy()
  for (const candidate of candidates) cycle.removePod(candidate, room)
  const rejection = cycle.filter(room)
  if (rejection) return rejection
  const victims: PodInfo[] = []
  /** Lets the pod stay, if there is room for both; whether it has to go. */
  const hasToGo = (candidate: PodInfo): boolean => {
    cycle.addPod(candidate, room)
    if (!cycle.filter(room)) return false
    cycle.removePod(candidate, room)
    victims.push(candidate)
    return true
  }
  const { violating, harmless } = splitByBudgets(candidates.toSorted(byImportance), budgets)
  const violations = violating.filter(hasToGo).length
  for (const candidate of harmless) hasToGo(candidate)
  return { pods: victims.sort(byImportance), violations }
}
