/** One attempt to schedule a pod: runs the plug-ins of its profile, and holds their state. */
import { reasonOf } from '../../lib/explained-error.ts'
import type { Cycle } from '../framework/cycle.ts'
import type { NodeInfo } from '../framework/node-info.ts'
import { maxNodeScore } from '../framework/plugin.ts'
import type { PodInfo } from '../framework/pods/pod-info.ts'
import type { Snapshot } from '../framework/snapshot.ts'
import { failed, type Rejection, type Status } from '../framework/status.ts'
import { type MeteredPoint, type Outcome, outcomeOf } from '../metrics/plugin-metrics.ts'
import type { Profile, Step } from '../profile/profile.ts'

export interface PreFilterOutcome {
  /** The reason why the pod fits on no node. */
  readonly rejection?: Rejection
  /** The only nodes to consider, and the plug-ins that excluded the others. Default: all nodes. */
  readonly nodes?: ReadonlySet<string>
  readonly narrowedBy: readonly string[]
}

/** One in so many nodes is timed: for most plug-ins, reading the clock takes longer than the call. */
const nodesPerSample = 16

export class PodCycle implements Cycle {
  readonly pod: PodInfo
  readonly snapshot: Snapshot
  readonly profile: Profile
  /** True if single plug-ins are timed in this attempt. */
  readonly isTimed: boolean
  /** By the plug-ins' numbers. */
  #states: unknown[]
  /** The filters that PreFilter has not skipped. */
  #filters: readonly Step[]
  /** The number of filtered nodes, if they are timed. */
  #filtered = 0
  /** The number of nodes that each filter rejected; the last entry counts the nodes that passed. Shared with copies. */
  #tally: number[]

  constructor(profile: Profile, pod: PodInfo, snapshot: Snapshot, isTimed = profile.meter.isTimedAttempt()) {
    this.profile = profile
    this.pod = pod
    this.snapshot = snapshot
    this.isTimed = isTimed
    this.#states = new Array(profile.pluginCount)
    this.#filters = profile.steps.filter
    this.#tally = new Array<number>(this.#filters.length + 1).fill(0)
  }

  /** The state that a plug-in's PreFilter returned. */
  stateOf({ index }: Step): unknown {
    return this.#states[index]
  }

  preFilter(): PreFilterOutcome {
    const began = performance.now()
    const outcome = this.#preFilter()
    this.profile.meter.observePoint('PreFilter', outcomeOf(outcome.rejection?.status), began)
    return outcome
  }

  #preFilter(): PreFilterOutcome {
    const skipped = new Set<number>()
    const narrowedBy: string[] = []
    let nodes: ReadonlySet<string> | undefined
    for (const step of this.profile.steps.preFilter) {
      const { name, plugin, index, evaluations } = step
      const answer = this.#prepare(step, 'PreFilter', () => plugin.preFilter!(this.pod, this.snapshot))
      if (!('code' in answer) || answer.code !== 'Skip') evaluations.PreFilter.add()
      if ('code' in answer) {
        if (answer.code !== 'Skip') return { rejection: { plugin: name, status: answer }, narrowedBy }
        skipped.add(index)
        continue
      }
      this.#states[index] = answer.state
      if (!answer.nodes) continue
      narrowedBy.push(name)
      const before: ReadonlySet<string> | undefined = nodes
      nodes = before ? new Set([...answer.nodes].filter((node) => before.has(node))) : answer.nodes
      if (nodes.size === 0) {
        const isOne = narrowedBy.length === 1
        const names = isOne ? `plugin ${name}` : `plugin(s) [${narrowedBy.join(' ')}] simultaneously`
        return {
          rejection: {
            plugin: name,
            status: { code: 'UnschedulableAndUnresolvable', reasons: [`node(s) didn't satisfy ${names}`] },
          },
          narrowedBy,
        }
      }
    }
    if (skipped.size > 0) this.#filters = this.profile.steps.filter.filter(({ index }) => !skipped.has(index))
    return { nodes, narrowedBy }
  }

  copy(): PodCycle {
    const copy = new PodCycle(this.profile, this.pod, this.snapshot, this.isTimed)
    copy.#filters = this.#filters
    copy.#tally = this.#tally
    copy.#states = this.#states.slice()
    for (const { plugin, index } of this.profile.steps.preFilter) {
      const state = this.#states[index]
      if (state !== undefined && plugin.copyState) copy.#states[index] = plugin.copyState(state)
    }
    return copy
  }

  addPod(added: PodInfo, node: NodeInfo): void {
    node.addPod(added)
    for (const { plugin, index } of this.#filters) plugin.addPod?.(this.#states[index], this.pod, added, node)
  }

  removePod(removed: PodInfo, node: NodeInfo): void {
    node.removePod(removed)
    for (const { plugin, index } of this.#filters) plugin.removePod?.(this.#states[index], this.pod, removed, node)
  }

  filter(node: NodeInfo): Rejection | undefined {
    const nominated = this.profile.handle.nominatedPods(node.name)
    if (nominated.length > 0) {
      const before = nominated.filter((other) => other.priority >= this.pod.priority && other.uid !== this.pod.uid)
      if (before.length > 0) {
        // They may or may not arrive, so the pod has to fit in both cases.
        const cycle = this.copy()
        const crowded = node.copy()
        for (const other of before) cycle.addPod(other, crowded)
        const rejection = cycle.#runFilters(crowded)
        if (rejection) return rejection
      }
    }
    return this.#runFilters(node)
  }

  /** The rejections of all filters for the node, not only the first. */
  allRejections(node: NodeInfo): readonly Rejection[] {
    return this.#filters.flatMap((step) => {
      const status = this.#callFilter(step, node)
      return status ? [{ plugin: step.name, status }] : []
    })
  }

  #runFilters(node: NodeInfo): Rejection | undefined {
    const isTimed = this.isTimed && this.#filtered++ % nodesPerSample === 0
    const steps = this.#filters
    for (let at = 0; at < steps.length; at++) {
      const step = steps[at]!
      const status = isTimed ? this.#callFilterTimed(step, node) : this.#callFilter(step, node)
      if (!status) continue
      this.#tally[at]!++
      return { plugin: step.name, status }
    }
    this.#tally[steps.length]!++
    return undefined
  }

  /** Adds the calls of each filter since the last call to the metrics. */
  countFilters(): void {
    let calls = 0
    for (let at = this.#filters.length; at >= 0; at--) {
      calls += this.#tally[at] ?? 0
      // Nodes that passed all filters are counted after the last one.
      this.#filters[at]?.evaluations.Filter.add(calls)
    }
    this.#tally.fill(0)
  }

  #callFilterTimed(step: Step, node: NodeInfo): Status | undefined {
    const began = performance.now()
    const status = this.#callFilter(step, node)
    this.profile.meter.observePlugin(step.name, 'Filter', outcomeOf(status), began)
    return status
  }

  #callFilter({ name, plugin, index }: Step, node: NodeInfo): Status | undefined {
    try {
      const status = plugin.filter!(this.#states[index], this.pod, node)
      return status?.code === 'Error' ? failedFilter(name, failureOf(status)) : status
    } catch (error) {
      return failedFilter(name, error)
    }
  }

  /** The weighted scores of each plug-in; `scores[i]` is that of `nodes[i]`. Throws the error of a plug-in. */
  score(nodes: readonly NodeInfo[]): readonly PluginScores[] {
    const states: unknown[] = new Array(this.profile.pluginCount)
    const skipped = this.measured('PreScore', () => this.#preScore(nodes, states))
    const steps = this.profile.steps.score.filter(({ index }) => !skipped.has(index))
    return this.measured('Score', () =>
      steps.map((step) => ({ plugin: step.name, scores: this.#scoresOf(step, states[step.index], nodes) })),
    )
  }

  /** Returns the numbers of the plug-ins that skip scoring; stores the states of the others. */
  #preScore(nodes: readonly NodeInfo[], states: unknown[]): ReadonlySet<number> {
    const skipped = new Set<number>()
    for (const step of this.profile.steps.preScore) {
      const { plugin, index, evaluations } = step
      const answer = this.#prepare(step, 'PreScore', () => plugin.preScore!(this.pod, nodes, this.#states[index]))
      if (!('code' in answer) || answer.code !== 'Skip') evaluations.PreScore.add()
      if (!('code' in answer)) states[index] = answer.state
      else if (answer.code === 'Skip') skipped.add(index)
      else throw failureOf(answer)
    }
    return skipped
  }

  #scoresOf(
    { name, plugin, weight, evaluations }: Step,
    state: unknown,
    nodes: readonly NodeInfo[],
  ): readonly number[] {
    const { meter } = this.profile
    const scores = new Array<number>(nodes.length)
    evaluations.Score.add(nodes.length)
    try {
      for (let at = 0; at < nodes.length; at++) {
        const isTimed = this.isTimed && at % nodesPerSample === 0
        const began = isTimed ? performance.now() : 0
        scores[at] = plugin.score!(state, this.pod, nodes[at]!)
        if (isTimed) meter.observePlugin(name, 'Score', 'Success', began)
      }
      const began = performance.now()
      plugin.normalize?.(state, this.pod, scores, nodes)
      if (this.isTimed && plugin.normalize) meter.observePlugin(name, 'ScoreExtensionNormalize', 'Success', began)
    } catch (error) {
      throw new Error(`running Score plugins: plugin ${JSON.stringify(name)} failed with: ${reasonOf(error)}`, {
        cause: error,
      })
    }
    for (let at = 0; at < scores.length; at++) {
      const score = scores[at]!
      if (!(score >= 0 && score <= maxNodeScore))
        throw new Error(
          `plugin ${JSON.stringify(name)} returns an invalid score ${score}, it should in the range of [0, ` +
            `${maxNodeScore}] after normalizing`,
        )
      scores[at] = score * weight
    }
    return scores
  }

  /** Runs the plug-ins of a point, and observes their total duration. */
  measured<T>(point: MeteredPoint, work: () => T): T {
    const began = performance.now()
    let outcome: Outcome = 'Error'
    try {
      const result = work()
      outcome = 'Success'
      return result
    } finally {
      this.profile.meter.observePoint(point, outcome, began)
    }
  }

  /** Runs one plug-in of a point; converts exceptions to a status. */
  #prepare<T extends object>({ name }: Step, point: 'PreFilter' | 'PreScore', work: () => T | Status): T | Status {
    const began = performance.now()
    const answer = attempt(`running ${point} plugin ${JSON.stringify(name)}`, work)
    if (this.isTimed)
      this.profile.meter.observePlugin(name, point, 'code' in answer ? (answer as Status).code : 'Success', began)
    return answer
  }
}

export interface PluginScores {
  readonly plugin: string
  readonly scores: readonly number[]
}

/** The error of a status, to throw. */
export const failureOf = ({ reasons, cause }: Status): Error =>
  cause instanceof Error ? cause : new Error(reasons.join(', '), { cause })

const failedFilter = (name: string, error: unknown): Status =>
  failed(new Error(`running ${JSON.stringify(name)} filter plugin: ${reasonOf(error)}`, { cause: error }))

/** Runs `work`; converts exceptions to a status. Prefixes errors with `what`. */
function attempt<T extends object>(what: string, work: () => T | Status): T | Status {
  const rejected = (error: unknown): Status => failed(new Error(`${what}: ${reasonOf(error)}`, { cause: error }))
  try {
    const answer = work()
    return 'code' in answer && answer.code === 'Error' ? rejected(failureOf(answer)) : answer
  } catch (error) {
    return rejected(error)
  }
}
