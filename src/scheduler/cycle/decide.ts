/** Decides where a pod goes: the nodes that all filters and extenders leave, and the best of them. */
import type { Extender } from '../framework/extender.ts'
import { maxExtenderScore } from '../framework/extender.ts'
import type { NodeInfo } from '../framework/node-info.ts'
import { maxNodeScore } from '../framework/plugin.ts'
import { type Refusal, unresolvable, unschedulable } from '../framework/status.ts'
import { enoughNodes, type FoundNodes, findNodes } from './find-nodes.ts'
import type { Diagnosis } from './fit-error.ts'
import { failureOf, type PodCycle } from './pod-cycle.ts'

export interface Placed {
  readonly node: NodeInfo
}

export interface Unplaced {
  readonly diagnosis: Diagnosis
  readonly refusedBy: ReadonlySet<string>
  readonly pendingFor: ReadonlySet<string>
}

export type Decision = Placed | Unplaced

export interface DeciderOptions {
  readonly extenders: readonly Extender[]
  /** percentageOfNodesToScore of all profiles that have none of their own. */
  readonly percentageOfNodesToScore: number
  /** 0 to 1; equal nodes are chosen by it. */
  readonly random: () => number
  /** For which node room is being made for the pod of this uid. */
  readonly nominatedNode: (uid: string) => string | undefined
}

/** Who refuses in the name of extenders. */
export const extenderPlugin = 'Extender'

/** There is nothing to ask the plug-ins about. */
export class NoNodesError extends Error {
  constructor() {
    super('no nodes available to schedule pods')
  }
}

export class Decider {
  readonly #options: DeciderOptions
  /** Where the next search begins. */
  #start = 0

  constructor(options: DeciderOptions) {
    this.#options = options
  }

  /**
   * At once where no extender is asked. Throws (or rejects with) NoNodesError, and an Error where a plug-in or extender
   * cannot tell.
   */
  decide(cycle: PodCycle): Decision | Promise<Decision> {
    const { nodes } = cycle.snapshot
    if (nodes.length === 0) throw new NoNodesError()
    const before = cycle.preFilter()
    if (before.refusal) return refusedEverywhere(nodes, before.refusal)
    const extenders = this.#options.extenders.filter((extender) => extender.isInterested(cycle.pod))
    const among = before.nodes ? nodes.filter(({ name }) => before.nodes!.has(name)) : nodes
    const nominated = this.#nominated(cycle, before.nodes)
    if (extenders.some(({ filter, prioritize }) => filter ?? prioritize))
      return this.#withExtenders(cycle, extenders, among, nominated, before.narrowedBy)
    if (nominated) return { node: nominated }
    const found = this.#find(cycle, among, extenders)
    if (found.feasible.length === 0) return unplaced(nodes, found, before.narrowedBy)
    return { node: this.#best(cycle, found.feasible) }
  }

  async #withExtenders(
    cycle: PodCycle,
    extenders: readonly Extender[],
    among: readonly NodeInfo[],
    nominated: NodeInfo | undefined,
    narrowedBy: readonly string[],
  ): Promise<Decision> {
    if (nominated) {
      const feasible = await filterByExtenders(cycle, extenders, {
        feasible: [nominated],
        refusals: new Map(),
        processed: 1,
      })
      if (feasible.length > 0) return { node: nominated }
    }
    const found = this.#find(cycle, among, extenders)
    const feasible = await filterByExtenders(cycle, extenders, found)
    if (feasible.length === 0) {
      const decision = unplaced(cycle.snapshot.nodes, found, narrowedBy)
      // They need not say why.
      return found.feasible.length > 0
        ? { ...decision, refusedBy: new Set([...decision.refusedBy, extenderPlugin]) }
        : decision
    }
    return { node: this.#best(cycle, feasible, await extenderScores(cycle, extenders, feasible)) }
  }

  /** The node where room was made for the pod, if it fits there. */
  #nominated(cycle: PodCycle, nodes: ReadonlySet<string> | undefined): NodeInfo | undefined {
    const name = this.#options.nominatedNode(cycle.pod.uid)
    const node = name && (!nodes || nodes.has(name)) ? cycle.snapshot.node(name) : undefined
    return node && !cycle.filter(node) ? node : undefined
  }

  #find(cycle: PodCycle, nodes: readonly NodeInfo[], extenders: readonly Extender[]): FoundNodes {
    const { profile } = cycle
    const compares = profile.steps.score.length > 0 || extenders.some(({ filter, prioritize }) => filter ?? prioritize)
    const percentage = profile.percentageOfNodesToScore ?? this.#options.percentageOfNodesToScore
    const found = findNodes(cycle, {
      nodes,
      start: this.#start % Math.max(1, nodes.length),
      wanted: compares ? enoughNodes(nodes.length, percentage) : 1,
    })
    this.#start = (this.#start + found.processed) % cycle.snapshot.nodes.length
    return found
  }

  #best(cycle: PodCycle, nodes: readonly NodeInfo[], more?: readonly number[]): NodeInfo {
    const [only] = nodes
    if (only && nodes.length === 1) return only
    const all = cycle.score(nodes).map(({ scores }) => scores)
    if (more) all.push(more)
    let best = only!
    let bestScore = Number.NEGATIVE_INFINITY
    let equals = 0
    for (let at = 0; at < nodes.length; at++) {
      let score = 0
      for (const scores of all) score += scores[at]!
      if (score < bestScore) continue
      // Of equal ones each has the same chance.
      equals = score === bestScore ? equals + 1 : 1
      bestScore = score
      if (equals === 1 || this.#options.random() * equals < 1) best = nodes[at]!
    }
    return best
  }
}

function refusedEverywhere(nodes: readonly NodeInfo[], refusal: Refusal): Unplaced {
  const { status, plugin } = refusal
  if (status.code === 'Error') throw failureOf(status)
  const isPending = status.code === 'Pending'
  return {
    diagnosis: {
      nodeCount: nodes.length,
      refusals: new Map(nodes.map(({ name }) => [name, refusal])),
      preFilterMessage: status.reasons.join(', '),
    },
    refusedBy: new Set(isPending ? [] : [plugin]),
    pendingFor: new Set(isPending ? [plugin] : []),
  }
}

function unplaced(nodes: readonly NodeInfo[], { refusals }: FoundNodes, narrowedBy: readonly string[]): Unplaced {
  const refusedBy = new Set(narrowedBy)
  const pendingFor = new Set<string>()
  for (const { plugin, status } of refusals.values()) (status.code === 'Pending' ? pendingFor : refusedBy).add(plugin)
  const absentReason =
    narrowedBy.length > 0 ? `node(s) didn't satisfy plugin(s) [${[...narrowedBy].sort().join(' ')}]` : undefined
  return { diagnosis: { nodeCount: nodes.length, refusals, absentReason }, refusedBy, pendingFor }
}

/** Which nodes the extenders leave, one asked after the other; what they refuse is added to the refusals. */
async function filterByExtenders(
  { pod }: PodCycle,
  extenders: readonly Extender[],
  found: FoundNodes,
): Promise<NodeInfo[]> {
  let { feasible } = found
  for (const { filter, ignorable } of extenders) {
    if (!filter || feasible.length === 0) continue
    try {
      const answer = await filter(pod, feasible)
      for (const [node, reason] of Object.entries(answer.failed))
        found.refusals.set(node, { plugin: extenderPlugin, status: unschedulable(reason) })
      for (const [node, reason] of Object.entries(answer.unresolvable))
        found.refusals.set(node, { plugin: extenderPlugin, status: unresolvable(reason) })
      feasible = answer.feasible
    } catch (error) {
      if (!ignorable) throw error
    }
  }
  return feasible
}

/** What extenders add to the scores of the plug-ins; one that cannot be asked adds nothing. */
async function extenderScores(
  { pod }: PodCycle,
  extenders: readonly Extender[],
  nodes: readonly NodeInfo[],
): Promise<readonly number[]> {
  const total = new Array<number>(nodes.length).fill(0)
  const answers = await Promise.all(
    extenders.flatMap(({ prioritize, weight }) =>
      prioritize
        ? [
            prioritize(pod, nodes).then(
              (scores) => ({ scores, weight }),
              () => undefined,
            ),
          ]
        : [],
    ),
  )
  for (const answer of answers)
    for (const [at, { name }] of nodes.entries())
      total[at]! += (answer?.scores.get(name) ?? 0) * (answer?.weight ?? 0) * (maxNodeScore / maxExtenderScore)
  return total
}
