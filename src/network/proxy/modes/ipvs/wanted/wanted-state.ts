/** The wanted state of all Services together: what several of them need is there until the last one leaves. */
import { serviceText } from '../../../../netlink/ipvs/virtual-service.ts'
import type { SetEntry } from '../rules/ip-sets.ts'
import type { BlockedAddress, ServiceObjects, WantedService } from './service-objects.ts'

/** The differences since the last call of `takeChanges`. */
export interface StateChanges {
  readonly addedEntries: readonly SetEntry[]
  readonly removedEntries: readonly SetEntry[]
  /** Virtual services that may have changed. */
  readonly services: readonly WantedService[]
  readonly removedServices: readonly WantedService[]
}

const noObjects: ServiceObjects = { services: [], entries: [], blocked: [] }

export class WantedState {
  readonly #objects = new Map<string, ServiceObjects>()
  readonly #entries = new Map<string, { readonly entry: SetEntry; count: number }>()
  /** By `serviceText`, then by the key of the Service: two may want one address, of which the first one gets it. */
  readonly #services = new Map<string, Map<string, WantedService>>()
  readonly #touchedEntries = new Map<string, { readonly entry: SetEntry; readonly wasWanted: boolean }>()
  readonly #touchedServices = new Map<string, WantedService>()

  /** Sets what the Service with a key needs; undefined: it was deleted. */
  set(key: string, objects: ServiceObjects | undefined): void {
    const { services, entries } = this.#objects.get(key) ?? noObjects
    for (const entry of entries) this.#count(entry, -1)
    for (const service of services) this.#own(key, service, false)
    if (objects) this.#objects.set(key, objects)
    else this.#objects.delete(key)
    for (const entry of objects?.entries ?? []) this.#count(entry, 1)
    for (const service of objects?.services ?? []) this.#own(key, service, true)
  }

  takeChanges(): StateChanges {
    const touched = [...this.#touchedEntries].map(([text, found]) => ({ ...found, isWanted: this.#entries.has(text) }))
    const services = [...this.#touchedServices].map(([text, last]) => ({ last, wanted: this.#wanted(text) }))
    this.#touchedEntries.clear()
    this.#touchedServices.clear()
    return {
      addedEntries: touched.flatMap(({ entry, wasWanted, isWanted }) => (isWanted && !wasWanted ? [entry] : [])),
      removedEntries: touched.flatMap(({ entry, wasWanted, isWanted }) => (wasWanted && !isWanted ? [entry] : [])),
      services: services.flatMap(({ wanted }) => wanted ?? []),
      removedServices: services.flatMap(({ last, wanted }) => (wanted ? [] : [last])),
    }
  }

  *entries(): Generator<SetEntry> {
    for (const { entry } of this.#entries.values()) yield entry
  }

  /** By `serviceText`. */
  services(): ReadonlyMap<string, WantedService> {
    return new Map([...this.#services].map(([text, owners]) => [text, firstOf(owners)]))
  }

  blocked(): BlockedAddress[] {
    return [...this.#objects.values()].flatMap(({ blocked }) => blocked)
  }

  #wanted(text: string): WantedService | undefined {
    const owners = this.#services.get(text)
    return owners && firstOf(owners)
  }

  #count(entry: SetEntry, change: 1 | -1): void {
    const text = `${entry.set} ${entry.entry}`
    const found = this.#entries.get(text) ?? { entry, count: 0 }
    if (!this.#touchedEntries.has(text)) this.#touchedEntries.set(text, { entry, wasWanted: found.count > 0 })
    found.count += change
    if (found.count > 0) this.#entries.set(text, found)
    else this.#entries.delete(text)
  }

  #own(key: string, service: WantedService, isWanted: boolean): void {
    const text = serviceText(service)
    this.#touchedServices.set(text, service)
    const owners = this.#services.get(text) ?? new Map<string, WantedService>()
    if (isWanted) owners.set(key, service)
    else owners.delete(key)
    if (owners.size > 0) this.#services.set(text, owners)
    else this.#services.delete(text)
  }
}

const firstOf = (owners: ReadonlyMap<string, WantedService>): WantedService => owners.values().next().value!
