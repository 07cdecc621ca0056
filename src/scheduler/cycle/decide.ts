/** Chooses the node of a pod: the best of the nodes that all filters and extenders allow. */
import type { Extender } from '../framework/extender.ts'
import { maxExtenderScore } from '../framework/extender.ts'
import type { NodeInfo } from '../framework/node-info.ts'
import { maxNodeScore } from '../framework/plugin.ts'
import { type Rejection, unresolvable, unschedulable } from '../framework/status.ts'
import { type FoundNodes, feasibleNodesToFind, findNodes } from './find-nodes.ts'
import type { Diagnosis } from './fit-error.ts'
import { failureOf, type PodCycle } from './pod-cycle.ts'

export interface Placed {
  readonly node: NodeInfo
}

export interface Unplaced {
  readonly diagnosis: Diagnosis
  readonly rejectedBy: ReadonlySet<string>
  readonly pendingFor: ReadonlySet<string>
}

export type Decision = Placed | Unplaced

export interface DeciderOptions {
  readonly extenders: readonly Extender[]
  /** percentageOfNodesToScore of all profiles that do not set it. */
  readonly percentageOfNodesToScore: number
  /** Returns 0 to 1, to choose among nodes with equal scores. */
  readonly random: () => number
  /** The node for which the pod of this uid is nominated. */
  readonly nominatedNode: (uid: string) => string | undefined
}

/** The plug-in name for rejections by extenders. */
export const extenderPlugin = 'Extender'

/** Thrown when the cluster has no nodes. */
export class NoNodesError extends Error {
  constructor() {
    super('no nodes available to schedule pods')
  }
}

export class Decider {
  readonly #options: DeciderOptions
  /** The node with which the next search begins. */
  #start = 0

  constructor(options: DeciderOptions) {
    this.#options = options
  }

  /**
   * Synchronous unless an extender is called. Throws (or rejects with) NoNodesError, or the error of a plug-in or
   * extender.
   */
  decide(cycle: PodCycle): Decision | Promise<Decision> {
    const { nodes } = cycle.snapshot
    if (nodes.length === 0) throw new NoNodesError()
    const before = cycle.preFilter()
    if (before.rejection) return rejectedOnAllNodes(nodes, before.rejection)
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
        rejections: new Map(),
        processed: 1,
      })
      if (feasible.length > 0) return { node: nominated }
    }
    const found = this.#find(cycle, among, extenders)
    const feasible = await filterByExtenders(cycle, extenders, found)
    if (feasible.length === 0) {
      const decision = unplaced(cycle.snapshot.nodes, found, narrowedBy)
      // Extenders need not give reasons.
      return found.feasible.length > 0
        ? { ...decision, rejectedBy: new Set([...decision.rejectedBy, extenderPlugin]) }
        : decision
    }
    return { node: this.#best(cycle, feasible, await extenderScores(cycle, extenders, feasible)) }
  }

  /** The nominated node of the pod, if the pod fits there. */
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
      limit: compares ? feasibleNodesToFind(nodes.length, percentage) : 1,
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
      // Nodes with equal scores have equal chances.
      equals = score === bestScore ? equals + 1 : 1
      bestScore = score
      if (equals === 1 || this.#options.random() * equals < 1) best = nodes[at]!
    }
    return best
  }
}

function rejectedOnAllNodes(nodes: readonly NodeInfo[], rejection: Rejection): Unplaced {
  const { status, plugin } = rejection
  if (status.code === 'Error') throw failureOf(status)
  const isPending = status.code === 'Pending'
  return {
    diagnosis: {
      nodeCount: nodes.length,
      rejections: new Map(nodes.map(({ name }) => [name, rejection])),
      preFilterMessage: status.reasons.join(', '),
    },
    rejectedBy: new Set(isPending ? [] : [plugin]),
    pendingFor: new Set(isPending ? [plugin] : []),
  }
}

function unplaced(nodes: readonly NodeInfo[], { rejections }: FoundNodes, narrowedBy: readonly string[]): Unplaced {
  const rejectedBy = new Set(narrowedBy)
  const pendingFor = new Set<string>()
  for (const { plugin, status } of rejections.values())
    (status.code === 'Pending' ? pendingFor : rejectedBy).add(plugin)
  const absentReason =
    narrowedBy.length > 0 ? `node(s) didn't satisfy plugin(s) [${[...narrowedBy].sort().join(' ')}]` : undefined
  return { diagnosis: { nodeCount: nodes.length, rejections, absentReason }, rejectedBy, pendingFor }
}

/** Returns the nodes that all extenders allow, called in order. Adds their rejections to `found`. */
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
        found.rejections.set(node, { plugin: extenderPlugin, status: unschedulable(reason) })
      for (const [node, reason] of Object.entries(answer.unresolvable))
        found.rejections.set(node, { plugin: extenderPlugin, status: unresolvable(reason) })
      feasible = answer.feasible
    } catch (error) {
      if (!ignorable) throw error
    }
  }
  return feasible
}

/** The scores of the extenders, to add to those of the plug-ins. An extender that fails adds nothing. */
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
