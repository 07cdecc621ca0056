/** Moves the clock of a cluster: pauses it, steps it from one alarm to the next, and changes its speed. */
import type { MovableClock } from '../../lib/clock/movable-clock.ts'
import { Settling } from './settling.ts'

/** The state of a cluster's clock. */
export interface ClockState {
  /** The time of the cluster, in RFC 3339 with milliseconds. */
  readonly time: string
  /** 1 is the speed of the machine's clock; 0 is a paused clock. */
  readonly speed: number
}

/** The result of a step. */
export interface StepResult extends ClockState {
  /** The part of the step that is not done, in ms: another step continues it. */
  readonly remainingMs: number
}

/** The activity of a cluster at present. */
export interface Activity {
  /** Requests in progress, without watches. */
  readonly requests: number
  /** The revision of the store. */
  readonly revision: number
}

/** How long a request works on a step, in ms: its client continues longer ones, before a request times out. */
const maxWorkMs = 5_000
/**
 * Alarms that are closer to each other than this part of a step are rung together, and never further apart than
 * `maxSliceMs`: nodes have to renew their leases in between.
 */
const slicesPerStep = 2_000
const maxSliceMs = 20_000
/** The path of the clock of a cluster. */
export const clockPath = '/debug/clock'
/** The longest step, in ms: ten years. */
export const maxStepMs = 10 * 365 * 24 * 3_600_000
/** The highest speed: what is late by a moment of the machine is late by much more in the cluster. */
export const maxSpeed = 1_000

export class ClockControl {
  readonly #clock: MovableClock
  readonly #settling: Settling
  /** The speed to go on with after steps. */
  #speed = 1
  /** Calls run one after the other. */
  #last: Promise<unknown> = Promise.resolve()

  /** `activity` is that of the cluster without requests to this control. */
  constructor(clock: MovableClock, activity: () => Promise<Activity>) {
    this.#clock = clock
    this.#settling = new Settling(activity)
  }

  state(): ClockState {
    return { time: new Date(this.#clock.now()).toISOString(), speed: this.#speed }
  }

  /** Lets the clock run at `speed`, from 0 (paused) to `maxSpeed`. */
  setSpeed(speed: number): Promise<ClockState> {
    return this.#then(async () => {
      this.#speed = speed
      this.#clock.move(0, speed)
      return this.state()
    })
  }

  /**
   * Moves the clock forward by `ms`, alarm by alarm, so that everything that waits happens in its order. Resolves when
   * what was due has been done, or after a few seconds with the rest of a long step.
   */
  step(ms: number): Promise<StepResult> {
    return this.#then(async () => {
      const slice = Math.min(maxSliceMs, ms / slicesPerStep)
      const until = performance.now() + maxWorkMs
      this.#clock.move(0, 0)
      let remainingMs = ms
      try {
        await this.#settling.settled('briefly')
        while (remainingMs > 0 && performance.now() < until) {
          const { elapsed } = this.#clock.current()
          const wait = Math.max(this.#clock.memory.nextDueAfter(elapsed) - elapsed, slice)
          const move = Math.min(remainingMs, wait)
          this.#clock.move(move, 0)
          remainingMs -= move
          await this.#settling.settled(remainingMs > 0 ? 'briefly' : 'long')
        }
      } finally {
        this.#clock.move(0, this.#speed)
      }
      return { ...this.state(), remainingMs }
    })
  }

  #then<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#last.then(run)
    this.#last = result.catch(() => {})
    return result
  }
}
