/** The leases of other nodes, from the events of a subnet manager; changes are collected until they are taken. */
import { isDeepStrictEqual } from 'node:util'
import { type Lease, type LeaseEvent, leaseKey } from './subnet-manager.ts'

/** The changes since the last time, and all leases afterwards. */
export interface LeaseChange {
  /** All leases of other nodes. */
  readonly leases: readonly Lease[]
  readonly added: readonly Lease[]
  /** Leases whose attributes changed, with the earlier ones. */
  readonly changed: readonly { readonly lease: Lease; readonly old: Lease }[]
  readonly removed: readonly Lease[]
}

export class LeaseTable {
  readonly #own: string
  readonly #leases = new Map<string, Lease>()
  /** Leases as they were when changes were taken last. */
  readonly #taken = new Map<string, Lease>()

  /** `own` is this node's lease, which is left out. */
  constructor(own: Pick<Lease, 'subnet' | 'ipv6Subnet'>) {
    this.#own = leaseKey(own)
  }

  apply(event: LeaseEvent): void {
    if (event.type === 'snapshot') {
      this.#leases.clear()
      for (const lease of event.leases) this.#set(lease)
    } else if (event.type === 'added') this.#set(event.lease)
    else this.#leases.delete(leaseKey(event.lease))
  }

  /** Returns the changes since the last call; undefined if nothing changed. The first one is never undefined. */
  take(): LeaseChange | undefined {
    const change = this.#difference()
    const isFirst = !this.#wasTaken
    this.#wasTaken = true
    if (!isFirst && change.added.length + change.changed.length + change.removed.length === 0) return undefined
    this.#taken.clear()
    for (const [key, lease] of this.#leases) this.#taken.set(key, lease)
    return change
  }

  #wasTaken = false

  #set(lease: Lease): void {
    const key = leaseKey(lease)
    if (key !== this.#own) this.#leases.set(key, lease)
  }

  #difference(): LeaseChange {
    const added: Lease[] = []
    const changed: { lease: Lease; old: Lease }[] = []
    for (const [key, lease] of this.#leases) {
      const old = this.#taken.get(key)
      if (!old) added.push(lease)
      else if (!isDeepStrictEqual(old.attributes, lease.attributes)) changed.push({ lease, old })
    }
    const removed = [...this.#taken].flatMap(([key, lease]) => (this.#leases.has(key) ? [] : [lease]))
    return { leases: [...this.#leases.values()], added, changed, removed }
  }
}
