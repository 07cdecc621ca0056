/**
 * What the plug-ins of a profile say of a pod, node by node, in a cluster that was read once. Nothing is written. It is
 * the scheduler's own cycle, only that it does not stop at the first refusal, and compares all nodes that fit.
 */
import { type Node, namespaces, type Pod } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { SchedulerCache } from '../cache/cache.ts'
import { fitMessage } from '../cycle/fit-error.ts'
import { PodCycle } from '../cycle/pod-cycle.ts'
import { type Handle, type NodeInfo, PodInfo, type Refusal, type Registry } from '../framework/index.ts'
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
  /** What each plug-in has against it. Empty: the pod fits. */
  readonly refusals: readonly Refusal[]
  /** What it would get, if the pod fits. */
  readonly scores: readonly PluginScore[]
  /** The scores, each times its weight. */
  readonly total: number
}

export interface PodVerdict {
  readonly pod: PodInfo
  /** Why the pod does not come into the queue. */
  readonly held: readonly Refusal[]
  /** What plug-ins have against all nodes. */
  readonly everywhere: readonly Refusal[]
  /** The best first; then those that refuse it, in the order in which they are tried. */
  readonly nodes: readonly NodeVerdict[]
  /** What the scheduler would say, in its words; empty if the pod fits somewhere. */
  readonly message: string
  /** What is around the nodes. */
  readonly surroundings: Surroundings
}

export class DryRun {
  /** What has to be read before a verdict can be given. */
  readonly cluster = new ReadCluster()
  readonly #cache = new SchedulerCache()
  readonly #namespaces = this.cluster.lister(namespaces)
  readonly #nominated = new Map<string, PodInfo[]>()
  readonly #profile: Profile

  /**
   * The client is for plug-ins that write: none of them gets so far. Throws an ExplainedError for a profile that cannot
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
      now: Date.now,
      log: () => {},
    }
    this.#profile = makeProfile(settings, registry, handle)
  }

  /** The pod is looked at as if it had no node yet. `pods` are all there are. */
  verdict(pod: Pod, nodes: readonly Node[], pods: readonly Pod[]): PodVerdict {
    for (const node of nodes) this.#cache.setNode(node)
    for (const other of pods) if (other.metadata.uid !== pod.metadata.uid && !hasEnded(other)) this.#place(other)
    const info = new PodInfo(unplaced(pod))
    const { cycle, everywhere, among, narrowedBy } = this.#prepared(info)
    const refusals = new Map(this.#cache.nodes.map((node) => [node, this.#refusals(cycle, node, among, narrowedBy)]))
    const fits = (node: NodeInfo): boolean => everywhere.length === 0 && refusals.get(node)?.length === 0
    const fitting = this.#cache.nodes.filter(fits)
    const refusing = this.#cache.nodes.filter((node) => !fits(node))
    return {
      pod: info,
      held: this.#held(pod),
      everywhere,
      nodes: [
        ...this.#scored(cycle, fitting).sort((a, b) => b.total - a.total),
        ...refusing.map((node) => ({ node, refusals: refusals.get(node) ?? [], scores: [], total: 0 })),
      ],
      surroundings: new Surroundings(this.#cache, (name) => this.#namespaces.get('', name)?.metadata.labels),
      message: fitting.length > 0 ? '' : messageOf(everywhere, refusals, among, narrowedBy),
    }
  }

  #place(pod: Pod): void {
    if (pod.spec?.nodeName) this.#cache.setPod(pod)
    else if (pod.status?.nominatedNodeName) {
      const { nominatedNodeName } = pod.status
      this.#nominated.set(nominatedNodeName, [...(this.#nominated.get(nominatedNodeName) ?? []), new PodInfo(pod)])
    }
  }

  #held(pod: Pod): readonly Refusal[] {
    const info = new PodInfo(pod)
    return this.#profile.steps.preEnqueue.flatMap(({ name, plugin }) => {
      const status = plugin.preEnqueue?.(info)
      return status ? [{ plugin: name, status }] : []
    })
  }

  /**
   * A cycle whose filters can be asked: a plug-in that refuses the pod everywhere is left out of it, so that the others
   * have their say.
   */
  #prepared(pod: PodInfo): {
    cycle: PodCycle
    everywhere: readonly Refusal[]
    among?: ReadonlySet<string>
    narrowedBy: readonly string[]
  } {
    const everywhere: Refusal[] = []
    for (;;) {
      const isLeft = ({ name }: { readonly name: string }): boolean => everywhere.every(({ plugin }) => plugin !== name)
      const { preFilter, filter, ...steps } = this.#profile.steps
      const profile = {
        ...this.#profile,
        steps: { ...steps, preFilter: preFilter.filter(isLeft), filter: filter.filter(isLeft) },
      }
      const cycle = new PodCycle(profile, pod, this.#cache)
      const { refusal, nodes, narrowedBy } = cycle.preFilter()
      if (!refusal) return { cycle, everywhere, among: nodes, narrowedBy }
      everywhere.push(refusal)
    }
  }

  #refusals(
    cycle: PodCycle,
    node: NodeInfo,
    among: ReadonlySet<string> | undefined,
    narrowedBy: readonly string[],
  ): readonly Refusal[] {
    const found = cycle.allRefusals(node)
    if (found.length > 0) return found
    if (among && !among.has(node.name))
      return [
        {
          plugin: narrowedBy.join(', '),
          status: { code: 'UnschedulableAndUnresolvable', reasons: [leftOut(narrowedBy)] },
        },
      ]
    // Those that wait for room there may be in the way.
    const refusal = cycle.filter(node)
    return refusal ? [refusal] : []
  }

  #scored(cycle: PodCycle, nodes: readonly NodeInfo[]): NodeVerdict[] {
    const weights = new Map(this.#profile.steps.score.map(({ name, weight }) => [name, weight]))
    const all = nodes.length > 0 ? cycle.score(nodes) : []
    return nodes.map((node, i) => {
      const scores = all.map(({ plugin, scores: weighted }) => {
        const weight = weights.get(plugin) ?? 1
        return { plugin, score: (weighted[i] ?? 0) / weight, weight }
      })
      return { node, refusals: [], scores, total: scores.reduce((sum, { score, weight }) => sum + score * weight, 0) }
    })
  }
}

/** Of each node the first reason alone, as the scheduler does not ask on. */
function messageOf(
  everywhere: readonly Refusal[],
  refusals: ReadonlyMap<NodeInfo, readonly Refusal[]>,
  among: ReadonlySet<string> | undefined,
  narrowedBy: readonly string[],
): string {
  if (refusals.size === 0) return 'no nodes available to schedule pods'
  const [first] = everywhere
  const asked = [...refusals].filter(([{ name }]) => !among || among.has(name))
  const byNode = new Map(asked.flatMap(([{ name }, [refusal]]) => (refusal ? [[name, refusal] as const] : [])))
  const absentReason = among && leftOut(narrowedBy)
  return fitMessage({
    nodeCount: refusals.size,
    refusals: byNode,
    absentReason,
    ...(first && { preFilterMessage: first.status.reasons.join(', ') }),
  })
}

const none: readonly PodInfo[] = []

const leftOut = (plugins: readonly string[]): string => `node(s) didn't satisfy plugin(s) [${plugins.join(' ')}]`

/** It takes nothing of its node any more. */
const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed'

function unplaced({ spec, ...pod }: Pod): Pod {
  if (!spec) return pod
  const { nodeName: _, ...rest } = spec
  return { ...pod, spec: rest }
}
