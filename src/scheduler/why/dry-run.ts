/**
 * Runs the plug-ins of a profile for a pod on every node of a cluster that was read once. Writes nothing. It uses the
 * scheduler's own cycle, but collects all rejections and scores all nodes that fit.
 */
import { type Node, namespaces, type Pod } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { systemClock } from '../../lib/clock/clock.ts'
import { SchedulerCache } from '../cache/cache.ts'
import { fitMessage } from '../cycle/fit-error.ts'
import { PodCycle } from '../cycle/pod-cycle.ts'
import { type Handle, type NodeInfo, PodInfo, type Registry, type Rejection } from '../framework/index.ts'
import { makeProfile, type Profile, type ProfileSettings } from '../profile/profile.ts'
import { ReadCluster } from './read-cluster.ts'
import { Surroundings } from './surroundings.ts'

export interface PluginScore {
  readonly plugin: string
  /** From 0 to 100. */
  readonly score: number
  readonly weight: number
}

export interface NodeVerdict {
  readonly node: NodeInfo
  /** The rejections of all plug-ins. Empty if the pod fits. */
  readonly rejections: readonly Rejection[]
  /** The scores, if the pod fits. */
  readonly scores: readonly PluginScore[]
  /** The weighted sum of the scores. */
  readonly total: number
}

export interface PodVerdict {
  readonly pod: PodInfo
  /** The reasons why the pod may not enter the queue. */
  readonly gatedBy: readonly Rejection[]
  /** The rejections for all nodes. */
  readonly everywhere: readonly Rejection[]
  /** Feasible nodes, the best first; then the others, in the order in which they are tried. */
  readonly nodes: readonly NodeVerdict[]
  /** The message of the scheduler; empty if the pod fits on a node. */
  readonly message: string
  /** The pods around the nodes. */
  readonly surroundings: Surroundings
}

export class DryRun {
  /** The objects to read before `verdict` is called. */
  readonly cluster = new ReadCluster()
  readonly #cache = new SchedulerCache()
  readonly #namespaces = this.cluster.lister(namespaces)
  readonly #nominated = new Map<string, PodInfo[]>()
  readonly #profile: Profile

  /**
   * Plug-ins get the client, but none reaches the steps that write. Throws an ExplainedError for a profile that cannot
   * work.
   */
  constructor(settings: ProfileSettings, registry: Registry, client: RestClient) {
    const handle: Handle = {
      profile: settings.schedulerName,
      client,
      snapshot: this.#cache,
      lister: (resource) => this.cluster.lister(resource),
      nominatedPods: (node) => this.#nominated.get(node) ?? none,
      nominatedNode: () => undefined,
      clearNominations: () => {},
      extenders: [],
      record: () => {},
      countPreemption: () => {},
      random: () => 0,
      waitingPods: { get: () => undefined, all: () => [] },
      preparingPods: { get: () => undefined },
      activate: () => {},
      ...systemClock,
      log: () => {},
    }
    this.#profile = makeProfile(settings, registry, handle)
  }

  /** Treats the pod as if it had no node. `pods` are all pods of the cluster. */
  verdict(pod: Pod, nodes: readonly Node[], pods: readonly Pod[]): PodVerdict {
    for (const node of nodes) this.#cache.setNode(node)
    for (const other of pods) if (other.metadata.uid !== pod.metadata.uid && !hasEnded(other)) this.#place(other)
    const info = new PodInfo(unplaced(pod))
    const { cycle, everywhere, allowedNodes, narrowedBy } = this.#prepared(info)
    const rejections = new Map(
      this.#cache.nodes.map((node) => [node, this.#rejections(cycle, node, allowedNodes, narrowedBy)]),
    )
    const fits = (node: NodeInfo): boolean => everywhere.length === 0 && rejections.get(node)?.length === 0
    const fitting = this.#cache.nodes.filter(fits)
    const rejecting = this.#cache.nodes.filter((node) => !fits(node))
    return {
      pod: info,
      gatedBy: this.#gatedBy(pod),
      everywhere,
      nodes: [
        ...this.#scored(cycle, fitting).sort((a, b) => b.total - a.total),
        ...rejecting.map((node) => ({ node, rejections: rejections.get(node) ?? [], scores: [], total: 0 })),
      ],
      surroundings: new Surroundings(this.#cache, (name) => this.#namespaces.get('', name)?.metadata.labels),
      message: fitting.length > 0 ? '' : messageOf(everywhere, rejections, allowedNodes, narrowedBy),
    }
  }

  #place(pod: Pod): void {
    if (pod.spec?.nodeName) this.#cache.setPod(pod)
    else if (pod.status?.nominatedNodeName) {
      const { nominatedNodeName } = pod.status
      this.#nominated.set(nominatedNodeName, [...(this.#nominated.get(nominatedNodeName) ?? []), new PodInfo(pod)])
    }
  }

  #gatedBy(pod: Pod): readonly Rejection[] {
    const info = new PodInfo(pod)
    return this.#profile.steps.preEnqueue.flatMap(({ name, plugin }) => {
      const status = plugin.preEnqueue?.(info)
      return status ? [{ plugin: name, status }] : []
    })
  }

  /**
   * Runs PreFilter. A plug-in that rejects the pod on all nodes is left out of the cycle, so that the others can be
   * run.
   */
  #prepared(pod: PodInfo): {
    cycle: PodCycle
    everywhere: readonly Rejection[]
    allowedNodes?: ReadonlySet<string>
    narrowedBy: readonly string[]
  } {
    const everywhere: Rejection[] = []
    for (;;) {
      const isLeft = ({ name }: { readonly name: string }): boolean => everywhere.every(({ plugin }) => plugin !== name)
      const { preFilter, filter, ...steps } = this.#profile.steps
      const profile = {
        ...this.#profile,
        steps: { ...steps, preFilter: preFilter.filter(isLeft), filter: filter.filter(isLeft) },
      }
      const cycle = new PodCycle(profile, pod, this.#cache)
      const { rejection, nodes, narrowedBy } = cycle.preFilter()
      if (!rejection) return { cycle, everywhere, allowedNodes: nodes, narrowedBy }
      everywhere.push(rejection)
    }
  }

  #rejections(
    cycle: PodCycle,
    node: NodeInfo,
    allowedNodes: ReadonlySet<string> | undefined,
    narrowedBy: readonly string[],
  ): readonly Rejection[] {
    const found = cycle.allRejections(node)
    if (found.length > 0) return found
    if (allowedNodes && !allowedNodes.has(node.name))
      return [
        {
          plugin: narrowedBy.join(', '),
          status: { code: 'UnschedulableAndUnresolvable', reasons: [leftOut(narrowedBy)] },
        },
      ]
    // The pod may not fit beside pods that are nominated for the node.
    const rejection = cycle.filter(node)
    return rejection ? [rejection] : []
  }

  #scored(cycle: PodCycle, nodes: readonly NodeInfo[]): NodeVerdict[] {
    const weights = new Map(this.#profile.steps.score.map(({ name, weight }) => [name, weight]))
    const all = nodes.length > 0 ? cycle.score(nodes) : []
    return nodes.map((node, i) => {
      const scores = all.map(({ plugin, scores: weighted }) => {
        const weight = weights.get(plugin) ?? 1
        return { plugin, score: (weighted[i] ?? 0) / weight, weight }
      })
      return { node, rejections: [], scores, total: scores.reduce((sum, { score, weight }) => sum + score * weight, 0) }
    })
  }
}

/** Uses the first rejection per node, as the scheduler stops there. */
function messageOf(
  everywhere: readonly Rejection[],
  rejections: ReadonlyMap<NodeInfo, readonly Rejection[]>,
  allowedNodes: ReadonlySet<string> | undefined,
  narrowedBy: readonly string[],
): string {
  if (rejections.size === 0) return 'no nodes available to schedule pods'
  const [first] = everywhere
  const considered = [...rejections].filter(([{ name }]) => !allowedNodes || allowedNodes.has(name))
  const byNode = new Map(
    considered.flatMap(([{ name }, [rejection]]) => (rejection ? [[name, rejection] as const] : [])),
  )
  const absentReason = allowedNodes && leftOut(narrowedBy)
  return fitMessage({
    nodeCount: rejections.size,
    rejections: byNode,
    absentReason,
    ...(first && { preFilterMessage: first.status.reasons.join(', ') }),
  })
}

const none: readonly PodInfo[] = []

const leftOut = (plugins: readonly string[]): string => `node(s) didn't satisfy plugin(s) [${plugins.join(' ')}]`

/** Such a pod uses no resources. */
const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed'

function unplaced({ spec, ...pod }: Pod): Pod {
  if (!spec) return pod
  const { nodeName: _, ...rest } = spec
  return { ...pod, spec: rest }
}
