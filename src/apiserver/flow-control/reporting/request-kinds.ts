/**
 * Reads and writes that execute and that wait, as fractions of the server's limits: `read_vs_write_current_requests`.
 */
import type { FlowMetrics, RequestKind } from './flow-metrics.ts'
import type { TimeRatio } from './time-ratio.ts'

type Phase = 'executing' | 'waiting'

class Counted {
  readonly ratio: TimeRatio
  count = 0

  constructor(ratio: TimeRatio) {
    this.ratio = ratio
  }
}

export class RequestKinds {
  readonly #executing: Readonly<Record<RequestKind, Counted>>
  readonly #waiting: Readonly<Record<RequestKind, Counted>>

  constructor(metrics: FlowMetrics, now: number) {
    const phase = (name: Phase): Readonly<Record<RequestKind, Counted>> => ({
      readOnly: new Counted(metrics.kind(name, 'readOnly', now)),
      mutating: new Counted(metrics.kind(name, 'mutating', now)),
    })
    this.#executing = phase('executing')
    this.#waiting = phase('waiting')
  }

  /** The number of waiting requests. */
  inQueue(kind: RequestKind): number {
    return this.#waiting[kind].count
  }

  /** Sets the limits: the requests that may execute and wait at all levels together. */
  of(executing: number, waiting: number, now: number): void {
    for (const { ratio } of Object.values(this.#executing)) ratio.of(executing, now)
    for (const { ratio } of Object.values(this.#waiting)) ratio.of(waiting, now)
  }

  executing(kind: RequestKind, by: 1 | -1, now: number): void {
    change(this.#executing[kind], by, now)
  }

  waiting(kind: RequestKind, by: 1 | -1, now: number): void {
    change(this.#waiting[kind], by, now)
  }
}

function change(counted: Counted, by: 1 | -1, now: number): void {
  counted.count += by
  counted.ratio.set(counted.count, now)
}
