/** The clock of a cluster for programs: `cluster.clock`. */
import { type ClockControl, maxSpeed, maxStepMs } from '../../apiserver/clock/clock-control.ts'
import type { Clock } from '../../lib/clock/clock.ts'
import { parseDurationMs } from '../../lib/duration.ts'
import { ExplainedError } from '../../lib/explained-error.ts'

/**
 * The clock of a cluster, which leases, CronJobs, times to live, back-offs and simulated nodes follow. Other programs,
 * certificates and real nodes live by the clock of the machine. All methods reject with an ExplainedError if the clock
 * of the cluster cannot be moved.
 *
 * @example
 * await cluster.clock.pause()
 * await cluster.clock.step('1h')
 * await cluster.clock.resume()
 */
export interface ClusterClock {
  /** The time of the cluster. */
  now(): Date
  /** Stops the time. What needs no time still happens. */
  pause(): Promise<void>
  /** Lets the time go on, at the speed of the machine's clock. */
  resume(): Promise<void>
  /** Lets the time run faster or slower than the machine's: 60 is an hour in a minute. More than 0, up to 1,000. */
  setSpeed(speed: number): Promise<void>
  /**
   * Moves the time forward by a duration (`1h30m`) or a number of ms, from one event to the next, and resolves when
   * what was due then has been done. Clients of other programs may still react. A paused clock stays paused.
   */
  step(duration: string | number): Promise<void>
}

/** A change of the clock. */
export type ClockOrder = { readonly speed: number } | { readonly stepMs: number }

/** `time` is the cluster's clock, and `give` has its owner carry out an order. */
export function clusterClock(time: Pick<Clock, 'now'>, give: (order: ClockOrder) => Promise<void>): ClusterClock {
  return {
    now: () => new Date(time.now()),
    pause: () => give({ speed: 0 }),
    resume: () => give({ speed: 1 }),
    async setSpeed(speed) {
      if (!(speed > 0 && speed <= maxSpeed))
        throw new ExplainedError(`the speed of a clock is above 0 and up to ${maxSpeed}, not ${speed}`)
      await give({ speed })
    },
    async step(duration) {
      const stepMs = typeof duration === 'number' ? duration : parseDurationMs(duration)
      if (stepMs === undefined || !(stepMs >= 0 && stepMs <= maxStepMs))
        throw new ExplainedError(
          `a step of a clock is a duration such as 90s or 1h30m, or milliseconds, not ${JSON.stringify(duration)}`,
        )
      await give({ stepMs })
    },
  }
}

/** Carries out an order. Rejects with an ExplainedError if there is no control, for the given reason. */
export async function moveClock(
  control: ClockControl | undefined,
  fixed: string | undefined,
  order: ClockOrder,
): Promise<void> {
  if (!control) throw new ExplainedError(`the clock of this cluster cannot be moved: ${fixed}`)
  if ('speed' in order) await control.setSpeed(order.speed)
  else for (let ms = order.stepMs, isDone = false; !isDone; isDone = ms <= 0) ms = (await control.step(ms)).remainingMs
}
