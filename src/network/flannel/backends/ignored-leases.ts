/** Leaves out leases of nodes with another backend. */
import { type Lease, leaseKey } from '../subnets/subnet-manager.ts'

export class IgnoredLeases {
  readonly #type: string
  readonly #log: (line: string) => void
  #logged = new Map<string, string>()

  constructor(type: string, log: (line: string) => void) {
    this.#type = type
    this.#log = log
  }

  /** Returns the leases of the backend; logs each other one once. */
  filter(leases: readonly Lease[]): Lease[] {
    const logged = new Map<string, string>()
    const found = leases.filter((lease) => {
      const { backendType } = lease.attributes
      if (backendType === this.#type) return true
      const key = leaseKey(lease)
      logged.set(key, backendType)
      if (this.#logged.get(key) !== backendType)
        this.#log(`Ignoring non-${this.#type} subnet ${lease.subnet ?? lease.ipv6Subnet}: type=${backendType}`)
      return false
    })
    this.#logged = logged
    return found
  }
}
