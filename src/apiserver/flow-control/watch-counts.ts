/** Which watches are open, by what they look at: a write's events go to those that could be interested. */
import type { RequestInfo } from '../request-info/request-info.ts'

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

  /** How many watches may see what a request changes. */
  interested({ resource, group, namespace, name }: RequestInfo): number {
    if (this.#counts.size === 0) return 0
    const byPlace = this.#counts.get(`${resource}.${group}`)?.byPlace
    if (!byPlace) return 0
    const at = (place: string): number => byPlace.get(place) ?? 0
    let sum = at('/')
    if (namespace) sum += at(`${namespace}/`)
    if (name) sum += at(`/${name}`)
    if (namespace && name) sum += at(`${namespace}/${name}`)
    return sum
  }
}
