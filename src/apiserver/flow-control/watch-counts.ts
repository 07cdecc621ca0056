/** Which watches are open, by what they look at: a write's events go to those that could be interested. */
import type { RequestInfo } from '../request/request-info.ts'

const placeOf = ({ namespace, name }: RequestInfo): string => `${namespace}/${name}`

interface Counts {
  all: number
  readonly byPlace: Map<string, number>
}

export class WatchCounts {
  /** By resource and group. */
  readonly #counts = new Map<string, Counts>()

  /** The returned function takes it back; it may be called once. */
  add(info: RequestInfo): () => void {
    const resource = `${info.resource}.${info.group}`
    const place = placeOf(info)
    let counts = this.#counts.get(resource)
    if (!counts) this.#counts.set(resource, (counts = { all: 0, byPlace: new Map() }))
    const { byPlace } = counts
    counts.all++
    byPlace.set(place, (byPlace.get(place) ?? 0) + 1)
    return () => {
      const left = byPlace.get(place)! - 1
      if (left > 0) byPlace.set(place, left)
      else byPlace.delete(place)
      if (--counts.all === 0) this.#counts.delete(resource)
    }
  }

  /** How many watches may see what a request changes; where that cannot be `atLeast`, 0. */
  interested(info: RequestInfo, atLeast: number): number {
    if (this.#counts.size === 0) return 0
    const counts = this.#counts.get(`${info.resource}.${info.group}`)
    if (!counts || counts.all < atLeast) return 0
    const { namespace, name } = info
    const places = new Set(['/', `${namespace}/`, `/${name}`, `${namespace}/${name}`])
    let sum = 0
    for (const place of places) sum += counts.byPlace.get(place) ?? 0
    return sum
  }
}
