/** One attempt to schedule a pod: runs the plug-ins of its profile, and keeps what they remember of it. */
import { reasonOf } from '../../lib/explained-error.ts'
import type { Cycle } from '../framework/cycle.ts'
import type { NodeInfo } from '../framework/node-info.ts'
import { maxNodeScore } from '../framework/plugin.ts'
import type { PodInfo } from '../framework/pods/pod-info.ts'
import type { Snapshot } from '../framework/snapshot.ts'
import { failed, type Refusal, type Status } from '../framework/status.ts'
import { type MeteredPoint, type Outcome, outcomeOf } from '../metrics/plugin-metrics.ts'
import type { Profile, Step } from '../profile/profile.ts'

export interface PreFilterOutcome {
  /** Why the pod fits nowhere. */
  readonly refusal?: Refusal
  /** The only nodes that come into question, and which plug-ins said so; all, unless set. */
  readonly nodes?: ReadonlySet<string>
  readonly narrowedBy: readonly string[]
}

/**
 * Where plug-ins are timed, they are at one of so many nodes: what is asked of hundreds takes less than looking at the
 * clock.
 */
const nodesPerSample = 16

export class PodCycle implements Cycle {
  readonly pod: PodInfo
  readonly snapshot: Snapshot
  readonly profile: Profile
  /** Whether the plug-ins are timed, each for itself. */
  readonly isTimed: boolean
  /** By the plug-ins' numbers. */
  #states: unknown[]
  /** Those that PreFilter has not skipped. */
  #filters: readonly Step[]
  /** Nodes that were asked about, where that is timed. */
  #filtered = 0
  /**
   * How many nodes each of the filters refused, and at last how many were refused by none; copies write into it too.
   */
  #tally: number[]

  constructor(profile: Profile, pod: PodInfo, snapshot: Snapshot, isTimed = profile.meter.samples()) {
    this.profile = profile
    this.pod = pod
    this.snapshot = snapshot
    this.isTimed = isTimed
    this.#states = new Array(profile.size)
    this.#filters = profile.steps.filter
    this.#tally = new Array<number>(this.#filters.length + 1).fill(0)
  }

  /** What PreFilter of a plug-in worked out. */
  stateOf({ index }: Step): unknown {
    return this.#states[index]
  }

  preFilter(): PreFilterOutcome {
    const began = performance.now()
    const outcome = this.#preFilter()
    this.profile.meter.pointRan('PreFilter', outcomeOf(outcome.refusal?.status), began)
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
        if (answer.code !== 'Skip') return { refusal: { plugin: name, status: answer }, narrowedBy }
        skipped.add(index)
        continue
      }
      this.#states[index] = answer.state
      if (!answer.nodes) continue
      narrowedBy.push(name)
      const before: ReadonlySet<string> | undefined = nodes
      nodes = before ? new Set([...answer.nodes].filter((node) => before.has(node))) : answer.nodes
      if (nodes.size === 0) {
        const who = narrowedBy.length === 1 ? `plugin ${name}` : `plugin(s) [${narrowedBy.join(' ')}] simultaneously`
        return {
          refusal: {
            plugin: name,
            status: { code: 'UnschedulableAndUnresolvable', reasons: [`node(s) didn't satisfy ${who}`] },
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

  filter(node: NodeInfo): Refusal | undefined {
    const nominated = this.profile.handle.nominatedPods(node.name)
    if (nominated.length > 0) {
      const before = nominated.filter((other) => other.priority >= this.pod.priority && other.uid !== this.pod.uid)
      if (before.length > 0) {
        // They will be there, or not: the pod has to fit in both cases.
        const cycle = this.copy()
        const room = node.copy()
        for (const other of before) cycle.addPod(other, room)
        const refusal = cycle.#filterAlone(room)
        if (refusal) return refusal
      }
    }
    return this.#filterAlone(node)
  }

  /** What each filter that is not content says of the node. */
  allRefusals(node: NodeInfo): readonly Refusal[] {
    return this.#filters.flatMap((step) => {
      const status = this.#ask(step, node)
      return status ? [{ plugin: step.name, status }] : []
    })
  }

  #filterAlone(node: NodeInfo): Refusal | undefined {
    const isTimed = this.isTimed && this.#filtered++ % nodesPerSample === 0
    const steps = this.#filters
    for (let at = 0; at < steps.length; at++) {
      const step = steps[at]!
      const status = isTimed ? this.#askTimed(step, node) : this.#ask(step, node)
      if (!status) continue
      this.#tally[at]!++
      return { plugin: step.name, status }
    }
    this.#tally[steps.length]!++
    return undefined
  }

  /** Counts how often each filter was asked since this was called last. */
  countFilters(): void {
    let asked = 0
    for (let at = this.#filters.length; at >= 0; at--) {
      asked += this.#tally[at] ?? 0
      // Those that came past all filters stand behind the last.
      this.#filters[at]?.evaluations.Filter.add(asked)
    }
    this.#tally.fill(0)
  }

  #askTimed(step: Step, node: NodeInfo): Status | undefined {
    const began = performance.now()
    const status = this.#ask(step, node)
    this.profile.meter.pluginRan(step.name, 'Filter', outcomeOf(status), began)
    return status
  }

  #ask({ name, plugin, index }: Step, node: NodeInfo): Status | undefined {
    try {
      const status = plugin.filter!(this.#states[index], this.pod, node)
      return status?.code === 'Error' ? failedFilter(name, failureOf(status)) : status
    } catch (error) {
      return failedFilter(name, error)
    }
  }

  /**
   * The scores of each plug-in that has something to say, weighted; `scores[i]` is that of `nodes[i]`. Throws an Error
   * where one cannot.
   */
  score(nodes: readonly NodeInfo[]): readonly PluginScores[] {
    const states: unknown[] = new Array(this.profile.size)
    const skipped = this.measured('PreScore', () => this.#preScore(nodes, states))
    const steps = this.profile.steps.score.filter(({ index }) => !skipped.has(index))
    return this.measured('Score', () =>
      steps.map((step) => ({ plugin: step.name, scores: this.#scoresOf(step, states[step.index], nodes) })),
    )
  }

  /** Which plug-ins have nothing to say, by their numbers; those that have leave their states. */
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
        if (isTimed) meter.pluginRan(name, 'Score', 'Success', began)
      }
      const began = performance.now()
      plugin.normalize?.(state, this.pod, scores, nodes)
      if (this.isTimed && plugin.normalize) meter.pluginRan(name, 'ScoreExtensionNormalize', 'Success', began)
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

  /** Runs the plug-ins of a point, and times them all together. */
  measured<T>(point: MeteredPoint, work: () => T): T {
    const began = performance.now()
    let outcome: Outcome = 'Error'
    try {
      const result = work()
      outcome = 'Success'
      return result
    } finally {
      this.profile.meter.pointRan(point, outcome, began)
    }
  }

  /** Runs one plug-in of a point; what it throws becomes a status. */
  #prepare<T extends object>({ name }: Step, point: 'PreFilter' | 'PreScore', work: () => T | Status): T | Status {
    const began = performance.now()
    const answer = attempt(`running ${point} plugin ${JSON.stringify(name)}`, work)
    if (this.isTimed)
      this.profile.meter.pluginRan(name, point, 'code' in answer ? (answer as Status).code : 'Success', began)
    return answer
  }
}

export interface PluginScores {
  readonly plugin: string
  readonly scores: readonly number[]
}

/** What went wrong, as an Error to throw. */
export const failureOf = ({ reasons, cause }: Status): Error =>
  cause instanceof Error ? cause : new Error(reasons.join(', '), { cause })

const failedFilter = (name: string, error: unknown): Status =>
  failed(new Error(`running ${JSON.stringify(name)} filter plugin: ${reasonOf(error)}`, { cause: error }))

/** What is thrown becomes a status; what went wrong is told with who it happened to. */
function attempt<T extends object>(what: string, work: () => T | Status): T | Status {
  const refused = (error: unknown): Status => failed(new Error(`${what}: ${reasonOf(error)}`, { cause: error }))
  try {
    const answer = work()
    return 'code' in answer && answer.code === 'Error' ? refused(failureOf(answer)) : answer
  } catch (error) {
    return refused(error)
  }
}
