/** DefaultPreemption: evicts pods of lower priority for a pod that fits nowhere. */
import { type PodDisruptionBudget, podDisruptionBudgets } from '../../../client/kinds.ts'
import { reasonOf } from '../../../lib/explained-error.ts'
import { int32 } from '../../../machinery/decode/configuration.ts'
import { type FieldError, invalidValue } from '../../../machinery/validation/field-error.ts'
import { fitMessage } from '../../cycle/fit-error.ts'
import {
  type ArgsKind,
  type Cycle,
  type EventRegistration,
  failed,
  type Handle,
  type Lister,
  type Plugin,
  type PodInfo,
  type PostFilterResult,
  pluginFactory,
  type Rejection,
  type Status,
  unschedulable,
} from '../../framework/index.ts'
import { budgetOf } from './budgets.ts'
import { type Candidate, chooseCandidate } from './choose.ts'
import { clearNomination, evict } from './evict.ts'
import { victimsOn } from './victims.ts'

interface PreemptionArgs {
  /** The minimum number of candidate nodes, in percent of the nodes, and absolute. */
  readonly minCandidateNodesPercentage: number
  readonly minCandidateNodesAbsolute: number
}

const args: ArgsKind<PreemptionArgs> = {
  fields: { minCandidateNodesPercentage: int32, minCandidateNodesAbsolute: int32 },
  withDefaults: (given) => ({ minCandidateNodesPercentage: 10, minCandidateNodesAbsolute: 100, ...given }),
  validate({ minCandidateNodesPercentage: percentage, minCandidateNodesAbsolute: absolute }, path) {
    const errors: FieldError[] = []
    if (percentage < 0 || percentage > 100)
      errors.push(invalidValue(`${path}.minCandidateNodesPercentage`, percentage, 'not in valid range [0, 100]'))
    if (absolute < 0)
      errors.push(invalidValue(`${path}.minCandidateNodesAbsolute`, absolute, 'not in valid range [0, inf)'))
    if (percentage === 0 && absolute === 0)
      errors.push(
        invalidValue(
          `${path}.minCandidateNodesPercentage`,
          percentage,
          'cannot be zero at the same time as minCandidateNodesAbsolute',
        ),
        invalidValue(
          `${path}.minCandidateNodesAbsolute`,
          absolute,
          'cannot be zero at the same time as minCandidateNodesPercentage',
        ),
      )
    return errors
  },
}

const stillEvicting = unschedulable('waiting for the preemption for this pod to be finished')

export const defaultPreemption = pluginFactory<PreemptionArgs>({
  name: 'DefaultPreemption',
  args,
  make: (settings, handle) => new DefaultPreemption(settings, handle),
})

class DefaultPreemption implements Plugin {
  /** After the eviction, the events of other plug-ins wake the pod. */
  readonly events: readonly EventRegistration[] = []
  readonly #settings: PreemptionArgs
  readonly #handle: Handle
  readonly #budgets: Lister<PodDisruptionBudget>
  /**
   * Pods whose victims are being evicted, by uid: they stay gated until then. `wasHeldBack` is set if they were about
   * to be queued meanwhile.
   */
  readonly #preempting = new Map<string, { wasHeldBack: boolean }>()

  constructor(settings: PreemptionArgs, handle: Handle) {
    this.#settings = settings
    this.#handle = handle
    this.#budgets = handle.lister(podDisruptionBudgets)
  }

  preEnqueue({ uid }: PodInfo): Status | undefined {
    const preemption = this.#preempting.get(uid)
    if (!preemption) return undefined
    preemption.wasHeldBack = true
    return stillEvicting
  }

  postFilter(cycle: Cycle, rejections: ReadonlyMap<string, Rejection>): PostFilterResult | Promise<PostFilterResult> {
    const obstacle = obstacleFor(cycle, rejections, this.#handle)
    if (obstacle) return { status: unschedulable(`preemption: ${obstacle}`) }
    const { candidates, rejections: remaining } = tryNodes(
      cycle,
      rejections,
      this.#settings,
      this.#handle,
      [...this.#budgets.all()].map(budgetOf),
    )
    const extenders = this.#handle.extenders.filter((extender) => extender.preempt && extender.isInterested(cycle.pod))
    if (extenders.length === 0 || candidates.length === 0) return this.#conclude(cycle, candidates, remaining)
    return filterByExtenders(cycle.pod, extenders, candidates).then(
      (accepted) =>
        accepted.length > 0
          ? this.#conclude(cycle, accepted, remaining)
          : { status: unschedulable('preemption: no candidate node for preemption') },
      (error) => ({ status: failed(new Error(`preemption: ${reasonOf(error)}`, { cause: error })) }),
    )
  }

  /** Chooses a candidate, and begins to evict its victims. */
  #conclude(
    cycle: Cycle,
    candidates: readonly Candidate[],
    rejections: ReadonlyMap<string, Rejection>,
  ): PostFilterResult {
    const best = chooseCandidate(candidates)
    if (!best) {
      const absentReason = 'Preemption is not helpful for scheduling'
      const message = fitMessage({ nodeCount: cycle.snapshot.nodes.length, rejections, absentReason })
      return { status: unschedulable(`preemption: ${message}`), nominatedNode: '' }
    }
    const { node, victims } = best
    // Terminating pods need no eviction; their end wakes the pod.
    const toEvict = victims.pods.filter(({ pod }) => !pod.metadata.deletionTimestamp)
    if (toEvict.length === 0) return { nominatedNode: node }
    this.#handle.countPreemption(victims.pods.length)
    clearLowerNominations(this.#handle, cycle.pod, node)
    void this.#evictAll(toEvict, cycle.pod, node)
    return { nominatedNode: node }
  }

  /** Evicts the victims in the background; the last one only when its deletion may wake the pod. */
  async #evictAll(victims: readonly PodInfo[], preemptor: PodInfo, node: string): Promise<void> {
    const handle = this.#handle
    const last = victims.at(-1)
    const preemption = { wasHeldBack: false }
    this.#preempting.set(preemptor.uid, preemption)
    try {
      await Promise.all(victims.slice(0, -1).map((victim) => evict(handle, victim, preemptor, node)))
      this.#preempting.delete(preemptor.uid)
      const isDeleting = last !== undefined && (await evict(handle, last, preemptor, node))
      // Events that wake the pod came too early: the last victim need not be the one that it was rejected for.
      if (!isDeleting || preemption.wasHeldBack) handle.activate([preemptor.key])
    } catch (error) {
      handle.log(`cannot evict pods on ${node} for ${preemptor.key}: ${reasonOf(error)}`)
      this.#preempting.delete(preemptor.uid)
      // No other event would wake it.
      handle.activate([preemptor.key])
    }
  }
}

/** The reason why the pod may not preempt; undefined if it may. */
function obstacleFor(
  { pod, snapshot }: Cycle,
  rejections: ReadonlyMap<string, Rejection>,
  handle: Handle,
): string | undefined {
  if (pod.pod.spec?.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.'
  const nominated = handle.nominatedNode(pod.uid)
  if (!nominated || rejections.get(nominated)?.status.code === 'UnschedulableAndUnresolvable') return undefined
  const isInProgress = snapshot
    .node(nominated)
    ?.pods.some((other) => other.priority < pod.priority && isBeingPreempted(other))
  return isInProgress ? 'not eligible due to a terminating pod on the nominated node.' : undefined
}

const isBeingPreempted = ({ pod: { metadata, status } }: PodInfo): boolean =>
  metadata.deletionTimestamp !== undefined &&
  (status?.conditions?.some(
    ({ type, status: state, reason }) =>
      type === 'DisruptionTarget' && state === 'True' && reason === 'PreemptionByScheduler',
  ) ??
    false)

/** Checks nodes on which preemption may help, from a random one on, until there are enough candidates. */
function tryNodes(
  cycle: Cycle,
  rejections: ReadonlyMap<string, Rejection>,
  { minCandidateNodesPercentage, minCandidateNodesAbsolute }: PreemptionArgs,
  { random }: Handle,
  budgets: readonly ReturnType<typeof budgetOf>[],
): { readonly candidates: readonly Candidate[]; readonly rejections: ReadonlyMap<string, Rejection> } {
  const nodes = cycle.snapshot.nodes.filter(({ name }) => rejections.get(name)?.status.code === 'Unschedulable')
  const wantedCandidates = Math.min(
    nodes.length,
    Math.max(minCandidateNodesAbsolute, Math.trunc((nodes.length * minCandidateNodesPercentage) / 100)),
  )
  const offset = Math.floor(random() * nodes.length)
  const candidates: Candidate[] = []
  const remaining = new Map<string, Rejection>()
  let harmless = 0
  for (let at = 0; at < nodes.length; at++) {
    const node = nodes[(offset + at) % nodes.length]!
    const answer = victimsOn(cycle, node, budgets)
    if ('status' in answer) remaining.set(node.name, answer)
    else {
      candidates.push({ node: node.name, victims: answer })
      if (answer.violations === 0) harmless++
      if (harmless > 0 && candidates.length >= wantedCandidates) break
    }
  }
  return { candidates, rejections: remaining }
}

/** Returns the candidates that remain after all extenders. */
async function filterByExtenders(
  pod: PodInfo,
  extenders: Handle['extenders'],
  candidates: readonly Candidate[],
): Promise<readonly Candidate[]> {
  let victims = new Map(candidates.map((candidate) => [candidate.node, candidate.victims]))
  for (const { preempt, ignorable } of extenders) {
    if (!preempt) continue
    try {
      const answer = [...(await preempt(pod, victims))]
      const empty = answer.find(([, { pods }]) => pods.length === 0)
      if (empty && !ignorable) throw new Error(`expected at least one victim pod on node ${JSON.stringify(empty[0])}`)
      victims = new Map(answer.filter(([, { pods }]) => pods.length > 0))
    } catch (error) {
      if (!ignorable) throw error
    }
    if (victims.size === 0) break
  }
  return [...victims].map(([node, ofNode]) => ({ node, victims: ofNode }))
}

/** Clears the nominations of pods of lower priority for the node, which would take the freed resources. */
function clearLowerNominations(handle: Handle, preemptor: PodInfo, node: string): void {
  const lesser = handle.nominatedPods(node).filter(({ priority }) => priority < preemptor.priority)
  handle.clearNominations(lesser)
  for (const pod of lesser)
    clearNomination(handle, pod).catch((error) =>
      handle.log(`cannot clear the nomination of ${pod.key}: ${reasonOf(error)}`),
    )
  handle.activate(lesser.map(({ key }) => key))
}
