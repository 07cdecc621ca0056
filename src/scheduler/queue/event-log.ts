/**
 * The events that occurred while pods were being scheduled. A pod that does not fit has missed them: they are checked
 * before it is set aside.
 */
import type { ClusterEvent } from '../framework/cluster-events.ts'

/** A request to retry the pod of this key. */
export interface Activation {
  readonly activated: string
}

export class EventLog {
  /** The start of each pod's part of the log, by uid; in the order of their attempts. */
  readonly #begins = new Map<string, number>()
  #events: (ClusterEvent | Activation)[] = []
  /** The number of events dropped from the beginning. */
  #dropped = 0

  get size(): number {
    return this.#begins.size
  }

  begin(uid: string): void {
    this.#begins.set(uid, this.#dropped + this.#events.length)
  }

  has(uid: string): boolean {
    return this.#begins.has(uid)
  }

  append(event: ClusterEvent | Activation): void {
    if (this.#begins.size > 0) this.#events.push(event)
  }

  /** Ends the pod's part, and returns the events in it. */
  end(uid: string): readonly (ClusterEvent | Activation)[] {
    const begin = this.#begins.get(uid)
    if (begin === undefined) return []
    const missed = this.#events.slice(begin - this.#dropped)
    this.drop(uid)
    return missed
  }

  /** Ends the pod's part without reading it. */
  drop(uid: string): void {
    if (this.#begins.delete(uid)) this.#trim()
  }

  #trim(): void {
    const [oldest] = this.#begins.values()
    const useless = oldest === undefined ? this.#events.length : oldest - this.#dropped
    // Not one by one: each trim copies the log.
    if (useless === 0 || (oldest !== undefined && useless * 2 < this.#events.length)) return
    this.#events = this.#events.slice(useless)
    this.#dropped += useless
  }
}
