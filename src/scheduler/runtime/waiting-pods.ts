/** Pods that wait in Permit: they have a node, and are bound when all plug-ins that wait have allowed it. */
import type { Alarm, Clock } from '../../lib/clock/clock.ts'
import { goDuration } from '../../lib/go/go-duration.ts'
import type { WaitingPod } from '../framework/handle.ts'
import type { PodInfo } from '../framework/pods/pod-info.ts'
import { type Rejection, unschedulable } from '../framework/status.ts'

/** The longest wait, in ms. */
const maxWaitMs = 15 * 60_000

export class WaitingPods {
  readonly #waiting = new Map<string, Waiting>()
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get(uid: string): WaitingPod | undefined {
    return this.#waiting.get(uid)
  }

  all(): Iterable<WaitingPod> {
    return this.#waiting.values()
  }

  /**
   * Resolves when all plug-ins allow the pod, or with the rejection of the first plug-in that rejects it or times out
   * (ms, by plug-in).
   */
  wait(pod: PodInfo, node: string, timeouts: ReadonlyMap<string, number>): Promise<Rejection | undefined> {
    const waiting = new Waiting(pod, node, timeouts, this.#clock)
    this.#waiting.set(pod.uid, waiting)
    return waiting.ended.finally(() => this.#waiting.delete(pod.uid))
  }

  /** Rejects all waiting pods. */
  stop(): void {
    for (const waiting of this.#waiting.values()) waiting.reject('', 'the scheduler stops')
  }
}

class Waiting implements WaitingPod {
  readonly pod: PodInfo
  readonly node: string
  readonly ended: Promise<Rejection | undefined>
  readonly #alarms = new Map<string, Alarm>()
  readonly #end: (rejection: Rejection | undefined) => void

  constructor(pod: PodInfo, node: string, timeouts: ReadonlyMap<string, number>, clock: Clock) {
    this.pod = pod
    this.node = node
    const { promise, resolve } = Promise.withResolvers<Rejection | undefined>()
    this.ended = promise
    this.#end = resolve
    for (const [plugin, timeoutMs] of timeouts)
      this.#alarms.set(
        plugin,
        clock.after(Math.min(timeoutMs, maxWaitMs), () =>
          this.reject(plugin, `rejected due to timeout after waiting ${goDuration(timeoutMs)} at plugin ${plugin}`),
        ),
      )
  }

  get pendingPlugins(): ReadonlySet<string> {
    return new Set(this.#alarms.keys())
  }

  allow(plugin: string): void {
    this.#alarms.get(plugin)?.cancel()
    this.#alarms.delete(plugin)
    if (this.#alarms.size === 0) this.#end(undefined)
  }

  reject(plugin: string, message: string): void {
    for (const alarm of this.#alarms.values()) alarm.cancel()
    this.#end({ plugin, status: unschedulable(message) })
  }
}
