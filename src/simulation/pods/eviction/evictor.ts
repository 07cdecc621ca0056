/**
 * Evicts pods from nodes under pressure, one by one with a pause, until the node recovers; as a kubelet's eviction
 * manager.
 */
import type { Pod } from '../../../client/kinds.ts'
import { type Clock, systemClock } from '../../../lib/clock/clock.ts'
import { parseDurationMs } from '../../../lib/duration.ts'
import { own } from '../../../lib/own.ts'
import { isTerminal } from '../../../node/pods/pod-types.ts'
import type { KubeletEvents } from '../../kubelet-events.ts'
import { annotationPrefix } from '../../names.ts'
import type { NodeAgent } from '../../nodes/agent.ts'
import { type Pressure, pressureOf } from '../../nodes/failures.ts'
import { Alarms } from '../../timing/alarms.ts'
import { runningContainers, storageBytes, usageOf } from '../../usage/usage.ts'
import type { BehaviourDefaults } from '../behaviour.ts'
import { type Consumption, evictionMessage, isCritical, rank } from './ranking.ts'

export interface EvictorOptions {
  readonly events: KubeletEvents
  readonly agent: (nodeName: string) => NodeAgent | undefined
  readonly podsOf: (nodeName: string) => Iterable<Pod>
  readonly defaults: (nodeName: string) => BehaviourDefaults
  /** Returns false if the pod is being written, so that it cannot be evicted now. */
  readonly evict: (pod: Pod, message: string) => boolean
  /** Default: the machine's. */
  readonly clock?: Clock
}

/** A kubelet's housekeeping interval. */
const defaultPauseMs = 10_000
const retryMs = 100
/** A node may set the pause. */
const pauseAnnotation = `${annotationPrefix}eviction-pause`

export class Evictor {
  readonly #options: EvictorOptions
  readonly #clock: Clock
  readonly #alarms: Alarms<string>
  /** Retries: by the machine's clock, so that a paused clock does not delay them. */
  readonly #retries: Alarms<string>
  /** Nodes under pressure. */
  readonly #underPressure = new Set<string>()

  constructor(options: EvictorOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#alarms = new Alarms((name) => this.#ring(name), this.#clock)
    this.#retries = new Alarms((name) => this.#ring(name))
  }

  nodeChanged({ name, failure }: NodeAgent, isDeleted: boolean): void {
    if (isDeleted || !pressureOf(failure)) {
      this.#underPressure.delete(name)
      this.#alarms.clear(name)
      this.#retries.clear(name)
    } else if (!this.#underPressure.has(name)) {
      this.#underPressure.add(name)
      this.#alarms.setAfter(name, 0)
    }
  }

  stop(): void {
    this.#alarms.stop()
    this.#retries.stop()
  }

  #ring(name: string): void {
    const { agent, podsOf, events, evict } = this.#options
    const node = agent(name)
    const pressure = pressureOf(node?.failure)
    if (!node || !pressure) return
    this.#alarms.setAfter(name, pauseOf(node))
    const consumption = (pod: Pod): Consumption => this.#consumption(pod, pressure)
    const [first] = rank([...podsOf(name)].filter(isEvictable), pressure, consumption)
    if (!first) return
    events.ofNode(node.node, 'Warning', 'EvictionThresholdMet', `Attempting to reclaim ${pressure.resource}`)
    const isGoing = evict(first, evictionMessage(first, pressure, node.node.status?.capacity ?? {}, consumption(first)))
    if (!isGoing) this.#retries.setAfter(name, retryMs)
  }

  #consumption(pod: Pod, { resource }: Pressure): Consumption {
    if (resource === 'pids') return new Map()
    const defaults = this.#options.defaults(pod.spec?.nodeName ?? '')
    const used = (container: Parameters<typeof usageOf>[1]): number =>
      resource === 'memory'
        ? usageOf(pod, container, defaults, this.#clock.now()).memoryBytes
        : storageBytes(pod, container)
    return new Map(runningContainers(pod).map((container) => [container.name, used(container)]))
  }
}

const pauseOf = ({ node }: NodeAgent): number =>
  parseDurationMs(own(node.metadata.annotations ?? {}, pauseAnnotation) ?? '') ?? defaultPauseMs

/** Pods that the node has admitted, that have not ended, and that are not critical. */
const isEvictable = (pod: Pod): boolean =>
  Boolean(pod.status?.startTime) &&
  !isTerminal(pod.status?.phase) &&
  !pod.metadata.deletionTimestamp &&
  !isCritical(pod)
