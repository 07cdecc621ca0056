/** Counts open watches by their target, to find those that may receive the events of a write. */
import type { RequestInfo } from '../request-info/request-info.ts'

const targetOf = ({ namespace, name }: RequestInfo): string => `${namespace}/${name}`

interface Counts {
  all: number
  readonly byPlace: Map<string, number>
}

export class WatchCounts {
  /** By resource and group. */
  readonly #counts = new Map<string, Counts>()

  /** Counts a watch. Call the returned function once when it ends. */
  add(info: RequestInfo): () => void {
    const resource = `${info.resource}.${info.group}`
    const place = targetOf(info)
    let counts = this.#counts.get(resource)
    if (!counts) this.#counts.set(resource, (counts = { all: 0, byPlace: new Map() }))
    const { byPlace } = counts
    counts.all++
    byPlace.set(place, (byPlace.get(place) ?? 0) + 1)
    return () => {
      const remaining = byPlace.get(place)! - 1
      if (remaining > 0) byPlace.set(place, remaining)
      else byPlace.delete(place)
      if (--counts.all === 0) this.#counts.delete(resource)
    }
  }

  /** The number of watches that may see the changes of a request. */
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
