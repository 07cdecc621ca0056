/** Leases of etcd for keys that expire. Keys written within a while share one: leases cost etcd more than keys. */

export interface LeasesOptions {
  /** Grants a lease of at least this many seconds; returns its id. */
  grant(seconds: number): Promise<bigint>
  /** The current time in ms. Monotonic. */
  now(): number
  /** Maximum time in s for which a lease is given to more keys (`--lease-reuse-duration-seconds`). */
  readonly reuseSeconds: number
}

interface Lease {
  readonly id: bigint
  /** In ms of `now`. */
  readonly expires: number
  keys: number
}

/** Maximum part of the time to live that a lease is longer, to be shared. As kube-apiserver. */
const reusePart = 0.05
/** Maximum number of keys of a lease. As kube-apiserver. */
const maxKeys = 1_000

export class Leases {
  readonly #options: LeasesOptions
  /** The newest lease, by time to live in seconds. */
  readonly #leases = new Map<number, Promise<Lease>>()

  constructor(options: LeasesOptions) {
    this.#options = options
  }

  /** Returns the lease of a key that lives for `seconds` from now, and up to 5 % longer. */
  async leaseFor(seconds: number): Promise<bigint> {
    const { now } = this.#options
    const until = now() + seconds * 1000
    const newest = this.#leases.get(seconds)
    if (newest) {
      const lease = await newest.catch(() => undefined)
      if (lease && lease.keys < maxKeys && lease.expires > until) {
        lease.keys++
        return lease.id
      }
    }
    // Another key may have asked for a lease meanwhile.
    const other = this.#leases.get(seconds)
    if (other !== newest) return this.leaseFor(seconds)
    const granted = this.#grant(seconds)
    this.#leases.set(seconds, granted)
    return (await granted).id
  }

  /** Forgets the leases: etcd does not know one of them any more. */
  forget(): void {
    this.#leases.clear()
  }

  async #grant(seconds: number): Promise<Lease> {
    const { now, grant, reuseSeconds } = this.#options
    const length = seconds + Math.min(reuseSeconds, Math.floor(seconds * reusePart))
    const expires = now() + length * 1000
    return { id: await grant(length), expires, keys: 1 }
  }
}
