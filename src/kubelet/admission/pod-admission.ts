/** Decides if this node runs a pod that was bound to it. */
import type { Node } from '../../client/kinds.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { Pod } from '../pod-types.ts'
import { checkAppArmor, checkGroupsPolicy, checkOs } from './checks/operating-system.ts'
import { isAffinityMisfit, type Misfit, misfits, rejectionOf } from './checks/predicates.ts'
import type { Shortage } from './checks/resources.ts'
import { checkSysctls } from './checks/sysctls.ts'
import { isCritical } from './critical-pods.ts'
import { podsToPreempt } from './preemption.ts'
import type { Rejection } from './rejection.ts'

/** Returns the reason to reject a pod; undefined if this check admits it. */
export type AdmissionCheck = (pod: Pod) => Rejection | undefined

export interface PodAdmissionOptions {
  /** The node as it is known. */
  readonly node: () => Promise<Node>
  /** Reads the node from the API. */
  readonly readNode: () => Promise<Node>
  /** The pods that use resources of the node. */
  readonly activePods: () => readonly Pod[]
  /** Ends a pod so that a critical one gets a resource; resolves when none of its containers runs. */
  readonly preempt: (pod: Pod, resource: string) => Promise<void>
  readonly allowedUnsafeSysctls: readonly string[]
  readonly hasAppArmor: boolean
}

export class PodAdmission {
  readonly #options: PodAdmissionOptions
  readonly #first: AdmissionCheck[] = []
  readonly #last: AdmissionCheck[] = []

  constructor(options: PodAdmissionOptions) {
    this.#options = options
  }

  /** Adds a check of another part of the kubelet, such as of evictions: before the node's own ones, or after them. */
  add(check: AdmissionCheck, position: 'first' | 'last' = 'first'): void {
    if (position === 'first') this.#first.push(check)
    else this.#last.push(check)
  }

  /** Resolves with the first reason to reject the pod. Ends other pods if a critical one needs their resources. */
  async admit(pod: Pod): Promise<Rejection | undefined> {
    const { allowedUnsafeSysctls, hasAppArmor } = this.#options
    return (
      firstOf(this.#first, pod) ??
      checkSysctls(pod, allowedUnsafeSysctls) ??
      (await this.#checkNode(pod)) ??
      checkAppArmor(pod, hasAppArmor) ??
      firstOf(this.#last, pod)
    )
  }

  async #checkNode(pod: Pod): Promise<Rejection | undefined> {
    const node = await this.#options.node()
    const rejection = checkOs(pod) ?? checkGroupsPolicy(pod, node)
    if (rejection) return rejection
    const found = await this.#misfits(pod, node)
    try {
      const [first] = isCritical(pod) ? await this.#makeRoom(pod, found) : found
      return first && rejectionOf(first)
    } catch (error) {
      return {
        reason: 'UnexpectedAdmissionError',
        message: `Unexpected error while attempting to recover from admission failure: ${messageOf(error)}`,
      }
    }
  }

  /** Labels may be newer in the API: a pod that only they exclude is checked against the node there. */
  async #misfits(pod: Pod, node: Node): Promise<readonly Misfit[]> {
    const { activePods, readNode } = this.#options
    const others = activePods().filter(({ metadata }) => metadata.uid !== pod.metadata.uid)
    const found = misfits(pod, node, others)
    if (found.length === 0 || !found.every(isAffinityMisfit)) return found
    const current = await readNode().catch(() => node)
    return current === node ? found : misfits(pod, current, others)
  }

  /** Returns the misfits that the end of other pods does not help against. Rejects if there are too few of those. */
  async #makeRoom(pod: Pod, found: readonly Misfit[]): Promise<readonly Misfit[]> {
    const { activePods, preempt } = this.#options
    const shortages = found.flatMap((misfit): Shortage[] => ('shortage' in misfit ? [misfit.shortage] : []))
    const others = found.filter((misfit) => !('shortage' in misfit))
    const [first] = shortages
    if (others.length > 0 || !first) return others
    await Promise.all(choose(pod, activePods(), shortages).map((victim) => preempt(victim, first.resource)))
    return []
  }
}

const firstOf = (checks: readonly AdmissionCheck[], pod: Pod): Rejection | undefined => {
  for (const check of checks) {
    const rejection = check(pod)
    if (rejection) return rejection
  }
  return undefined
}

function choose(pod: Pod, active: readonly Pod[], shortages: readonly Shortage[]): Pod[] {
  try {
    return podsToPreempt(pod, active, shortages)
  } catch (error) {
    throw new Error(`preemption: error finding a set of pods to preempt: ${messageOf(error)}`)
  }
}
