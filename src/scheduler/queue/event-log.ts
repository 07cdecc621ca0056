/**
 * What happened while pods were being scheduled: a pod that turns out not to fit has missed these events, and is held
 * against them before it is put aside.
 */
import type { ClusterEvent } from '../framework/cluster-events.ts'

/** Somebody wants the pod of this key to be tried again. */
export interface Activation {
  readonly activated: string
}

export class EventLog {
  /** Where each pod's own part of the log begins, by uid; in the order in which they were taken. */
  readonly #begins = new Map<string, number>()
  #events: (ClusterEvent | Activation)[] = []
  /** How many events were dropped from the beginning. */
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

  note(event: ClusterEvent | Activation): void {
    if (this.#begins.size > 0) this.#events.push(event)
  }

  /** What happened since the pod began, which ends its part. */
  end(uid: string): readonly (ClusterEvent | Activation)[] {
    const begin = this.#begins.get(uid)
    if (begin === undefined) return []
    const missed = this.#events.slice(begin - this.#dropped)
    this.drop(uid)
    return missed
  }

  /** Ends a pod's part, whatever has happened. */
  drop(uid: string): void {
    if (this.#begins.delete(uid)) this.#trim()
  }

  #trim(): void {
    const [oldest] = this.#begins.values()
    const useless = oldest === undefined ? this.#events.length : oldest - this.#dropped
    // Not one by one: that would copy the log again and again.
    if (useless === 0 || (oldest !== undefined && useless * 2 < this.#events.length)) return
    this.#events = this.#events.slice(useless)
    this.#dropped += useless
  }
}
