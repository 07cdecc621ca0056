/** Relates client time to revisions: the revisions that could be known at a time. */
import type { Observation } from '../observation.ts'
import type { Write } from './history.ts'

/** The running maximum or minimum of values over time. */
class Extremes {
  readonly #times: Float64Array
  readonly #values: Float64Array

  /** Sorts by time and accumulates the values in the given direction. */
  constructor(
    points: readonly (readonly [time: number, value: number])[],
    better: (a: number, b: number) => number,
    direction: 'forward' | 'backward',
  ) {
    const sorted = points.toSorted(([a], [b]) => a - b)
    this.#times = Float64Array.from(sorted, ([time]) => time)
    this.#values = Float64Array.from(sorted, ([, value]) => value)
    const values = this.#values
    if (direction === 'forward') for (let i = 1; i < values.length; i++) values[i] = better(values[i - 1]!, values[i]!)
    else for (let i = values.length - 2; i >= 0; i--) values[i] = better(values[i + 1]!, values[i]!)
  }

  /** Returns the value of the last point up to `time`. */
  until(time: number): number | undefined {
    return this.#values[this.#count(time, true) - 1]
  }

  /** Returns the value of the first point from `time` on. */
  from(time: number): number | undefined {
    return this.#values[this.#count(time, false)]
  }

  /** Returns the number of points before `time`, or up to it. */
  #count(time: number, included: boolean): number {
    let low = 0
    let high = this.#times.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const at = this.#times[middle]!
      if (at < time || (included && at === time)) low = middle + 1
      else high = middle
    }
    return low
  }
}

export class RevisionClock {
  readonly #start: number
  readonly #known: Extremes
  readonly #later: Extremes
  readonly #connections: ReadonlyMap<string, Extremes>

  /** `start` is a revision before all observations. */
  constructor(start: number, writes: readonly Write[], observations: readonly Observation[]) {
    this.#start = start
    const known: (readonly [number, number])[] = []
    const later: (readonly [number, number])[] = []
    const connections = new Map<string, (readonly [number, number])[]>()
    for (const { outcome, revision, sent, answered } of writes) {
      if (!revision || revision <= start) continue
      later.push([sent, revision])
      if (outcome === 'acknowledged') known.push([answered, revision])
    }
    for (const observation of observations) {
      if (observation.what === 'watch') {
        for (const { at, revision } of observation.events) known.push([at, revision])
        continue
      }
      const revision = revisionOf(observation)
      if (!revision) continue
      const point = [observation.answered, revision] as const
      known.push(point)
      const own = connections.get(observation.connection)
      if (own) own.push(point)
      else connections.set(observation.connection, [point])
    }
    this.#known = new Extremes(known, Math.max, 'forward')
    this.#later = new Extremes(later, Math.min, 'backward')
    this.#connections = new Map(
      [...connections].map(([name, points]) => [name, new Extremes(points, Math.max, 'forward')]),
    )
  }

  /** Returns a revision that had been reached by `time`, since a client had seen it. */
  floor(time: number): number {
    return Math.max(this.#start, this.#known.until(time) ?? 0)
  }

  /** Returns the newest revision that this connection had read by `time`. */
  newestShown(connection: string, time: number): number {
    return this.#connections.get(connection)?.until(time) ?? 0
  }

  /** Returns the newest revision possible at `time`: later ones had not been sent yet. */
  ceiling(time: number): number {
    return (this.#later.from(time) ?? Number.POSITIVE_INFINITY) - 1
  }
}

function revisionOf(observation: Exclude<Observation, { what: 'watch' }>): number {
  if (observation.what === 'list')
    return observation.mode === 'exact' || observation.mode === 'derived' ? 0 : observation.revision
  if (observation.what === 'read') return typeof observation.found === 'string' ? 0 : observation.found.revision
  return 0
}
