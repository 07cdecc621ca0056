/** DefaultPreemption: makes room for a pod that fits nowhere by evicting pods of lower priority. */
import { podDisruptionBudgets } from '../../../client/kinds.ts'
import { reasonOf } from '../../../lib/explained-error.ts'
import { int32 } from '../../../machinery/decode/configuration.ts'
import { type FieldError, invalidValue } from '../../../machinery/validation/field-error.ts'
import { fitMessage } from '../../cycle/fit-error.ts'
import {
  type ArgsKind,
  type Cycle,
  failed,
  type Handle,
  type Plugin,
  type PodInfo,
  type PostFilterResult,
  pluginFactory,
  type Rejection,
  unschedulable,
} from '../../framework/index.ts'
import { budgetOf } from './budgets.ts'
import { type Candidate, chooseCandidate } from './choose.ts'
import { clearNomination, evict } from './evict.ts'
import { victimsOn } from './victims.ts'

interface PreemptionArgs {
  /** How many percent of the nodes are tried at least, and how many nodes. */
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
  make(settings, handle): Plugin {
    const budgets = handle.lister(podDisruptionBudgets)
    /**
     * Pods whose victims are being deleted, by uid: they wait until that is done. What would have woken them meanwhile
     * is noted.
     */
    const preempting = new Map<string, { wasHeldBack: boolean }>()

    /** Deletes the victims in the background; the last one when the pod may be woken by it. */
    const prepare = async (preemptor: PodInfo, node: string, victims: readonly PodInfo[]): Promise<void> => {
      const last = victims.at(-1)
      const waiting = { wasHeldBack: false }
      preempting.set(preemptor.uid, waiting)
      try {
        await Promise.all(victims.slice(0, -1).map((victim) => evict(handle, victim, preemptor, node)))
        preempting.delete(preemptor.uid)
        const isToGo = last !== undefined && (await evict(handle, last, preemptor, node))
        // What wakes it has happened before: the last one to go need not be what it was rejected for.
        if (!isToGo || waiting.wasHeldBack) handle.activate([preemptor.key])
      } catch (error) {
        handle.log(`pods on ${node} could not be evicted for ${preemptor.key}: ${reasonOf(error)}`)
        preempting.delete(preemptor.uid)
        // Nothing else would wake it.
        handle.activate([preemptor.key])
      }
    }

    const conclude = (
      cycle: Cycle,
      candidates: readonly Candidate[],
      rejections: ReadonlyMap<string, Rejection>,
    ): PostFilterResult => {
      const best = chooseCandidate(candidates)
      if (!best) {
        const absentReason = 'Preemption is not helpful for scheduling'
        const message = fitMessage({ nodeCount: cycle.snapshot.nodes.length, rejections, absentReason })
        return { status: unschedulable(`preemption: ${message}`), nominatedNode: '' }
      }
      const { node, victims } = best
      // Those that are going already have been told, and their end wakes the pod.
      const toEvict = victims.pods.filter(({ pod }) => !pod.metadata.deletionTimestamp)
      if (toEvict.length === 0) return { nominatedNode: node }
      handle.countPreemption(victims.pods.length)
      dismissLesser(handle, cycle.pod, node)
      void prepare(cycle.pod, node, toEvict)
      return { nominatedNode: node }
    }

    return {
      // When the victims are being deleted it is woken by what it was rejected for.
      events: [],
      preEnqueue({ uid }) {
        const waiting = preempting.get(uid)
        if (!waiting) return undefined
        waiting.wasHeldBack = true
        return stillEvicting
      },
      postFilter(cycle, rejections) {
        const objection = objectionTo(cycle, rejections, handle)
        if (objection) return { status: unschedulable(`preemption: ${objection}`) }
        const { candidates, rejections: remaining } = tryNodes(
          cycle,
          rejections,
          settings,
          handle,
          [...budgets.all()].map(budgetOf),
        )
        const extenders = handle.extenders.filter((extender) => extender.preempt && extender.isInterested(cycle.pod))
        if (extenders.length === 0 || candidates.length === 0) return conclude(cycle, candidates, remaining)
        return askExtenders(cycle.pod, extenders, candidates).then(
          (left) =>
            left.length > 0
              ? conclude(cycle, left, remaining)
              : { status: unschedulable('preemption: no candidate node for preemption') },
          (error) => ({ status: failed(new Error(`preemption: ${reasonOf(error)}`, { cause: error })) }),
        )
      },
    }
  },
})

/** Why the pod may not evict others, if it may not. */
function objectionTo(
  { pod, snapshot }: Cycle,
  rejections: ReadonlyMap<string, Rejection>,
  handle: Handle,
): string | undefined {
  if (pod.pod.spec?.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.'
  const nominated = handle.nominatedNode(pod.uid)
  if (!nominated || rejections.get(nominated)?.status.code === 'UnschedulableAndUnresolvable') return undefined
  // The room that it has been promised is still being made.
  const isBeingMade = snapshot
    .node(nominated)
    ?.pods.some((other) => other.priority < pod.priority && isBeingPreempted(other))
  return isBeingMade ? 'not eligible due to a terminating pod on the nominated node.' : undefined
}

const isBeingPreempted = ({ pod: { metadata, status } }: PodInfo): boolean =>
  metadata.deletionTimestamp !== undefined &&
  (status?.conditions?.some(
    ({ type, status: state, reason }) =>
      type === 'DisruptionTarget' && state === 'True' && reason === 'PreemptionByScheduler',
  ) ??
    false)

/** Tries nodes where eviction may help, from a random one on, until there are enough candidates. */
function tryNodes(
  cycle: Cycle,
  rejections: ReadonlyMap<string, Rejection>,
  { minCandidateNodesPercentage, minCandidateNodesAbsolute }: PreemptionArgs,
  { random }: Handle,
  budgets: readonly ReturnType<typeof budgetOf>[],
): { readonly candidates: readonly Candidate[]; readonly rejections: ReadonlyMap<string, Rejection> } {
  const nodes = cycle.snapshot.nodes.filter(({ name }) => rejections.get(name)?.status.code === 'Unschedulable')
  const wanted = Math.min(
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
      if (harmless > 0 && candidates.length >= wanted) break
    }
  }
  return { candidates, rejections: remaining }
}

/** What the extenders leave of the candidates. */
async function askExtenders(
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

/** Pods of lower priority that wait for the same node would take the room: they have to look for another. */
function dismissLesser(handle: Handle, preemptor: PodInfo, node: string): void {
  const lesser = handle.nominatedPods(node).filter(({ priority }) => priority < preemptor.priority)
  handle.clearNominations(lesser)
  for (const pod of lesser)
    clearNomination(handle, pod).catch((error) =>
      handle.log(`the nomination of ${pod.key} could not be taken away: ${reasonOf(error)}`),
    )
  handle.activate(lesser.map(({ key }) => key))
}
