/** The use of priority levels over time, as fractions of their seats and queues. */
import type { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import type { PriorityLevel } from '../priority-level.ts'
import { TimeRatio } from './time-ratio.ts'

const requestParts = [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1]
const seatParts = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1]
const demandParts = [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6]

interface UseRatios {
  readonly executing: TimeRatio
  readonly waiting: TimeRatio
  readonly seats: TimeRatio
  readonly demand: TimeRatio
}

export class LevelUse {
  readonly #ratios: UseRatios
  /** The seats that the ratios refer to; -1 before the first change. */
  #seats = -1

  constructor(ratios: UseRatios) {
    this.#ratios = ratios
  }

  /** Reports the use after a change. `demand` is the number of seats that the level could use; `now` in ms. */
  changed({ queues, fallbackSeats }: PriorityLevel, demand: number, now: number): void {
    const ratios = this.#ratios
    const seats = queues.seats > 0 ? queues.seats : fallbackSeats
    if (seats !== this.#seats) {
      this.#seats = seats
      ratios.executing.of(seats, now)
      ratios.seats.of(seats, now)
      ratios.demand.of(seats, now)
      const { limits } = queues
      ratios.waiting.of(limits ? limits.queues * limits.queueLengthLimit : 1, now)
    }
    ratios.executing.set(queues.executing, now)
    ratios.waiting.set(queues.waiting, now)
    ratios.seats.set(queues.seatsInUse, now)
    ratios.demand.set(demand, now)
  }
}

/** Registers the metrics. Returns a function for the use of a level from `now` on, in ms. */
export function levelUses(metrics: MetricsRegistry): (level: string, now: number) => LevelUse {
  const requests = metrics.histogram(
    'apiserver_flowcontrol_priority_level_request_utilization',
    'Requests as a part of what a level takes.',
    requestParts,
    ['phase', 'priority_level'],
  )
  const seats = metrics.histogram(
    'apiserver_flowcontrol_priority_level_seat_utilization',
    'Seats in use as a part of those of a level.',
    seatParts,
    ['priority_level', 'phase'],
  )
  const demand = metrics.histogram(
    'apiserver_flowcontrol_demand_seats',
    'Seats that a level could use as a part of those it has.',
    demandParts,
    ['priority_level'],
  )
  return (level, now) =>
    new LevelUse({
      executing: new TimeRatio(requests(['executing', level]), now),
      waiting: new TimeRatio(requests(['waiting', level]), now),
      seats: new TimeRatio(seats([level, 'executing']), now),
      demand: new TimeRatio(demand([level]), now),
    })
}
