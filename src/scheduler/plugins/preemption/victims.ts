/** The victims on one node: as few and as unimportant pods as possible. */
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

const noVictims = unresolvable('No preemption victims found for incoming pod')

/** Returns the victims, or the reason why preemption does not help on this node. Works on copies. */
export function victimsOn(original: Cycle, node: NodeInfo, budgets: readonly Budget[]): Victims | Rejection {
  const { pod } = original
  const candidates = node.pods.filter(({ priority }) => priority < pod.priority)
  if (candidates.length === 0) return { plugin: 'DefaultPreemption', status: noVictims }
  const cycle = original.copy()
  const simulated = node.copy()
  for (const candidate of candidates) cycle.removePod(candidate, simulated)
  const rejection = cycle.filter(simulated)
  if (rejection) return rejection
  const victims: PodInfo[] = []
  /** Adds the pod back if both fit; otherwise makes it a victim and returns true. */
  const mustBeEvicted = (candidate: PodInfo): boolean => {
    cycle.addPod(candidate, simulated)
    if (!cycle.filter(simulated)) return false
    cycle.removePod(candidate, simulated)
    victims.push(candidate)
    return true
  }
  const { violating, harmless } = splitByBudgets(candidates.toSorted(byImportance), budgets)
  const violations = violating.filter(mustBeEvicted).length
  for (const candidate of harmless) mustBeEvicted(candidate)
  return { pods: victims.sort(byImportance), violations }
}
