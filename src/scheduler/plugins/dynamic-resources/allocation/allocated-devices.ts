/** Which devices claims have, kept up to date claim by claim. */
import { addTo, type Sums } from './capacity.ts'
import { type AllocatedDevice, deviceId, type ResourceClaim } from './devices.ts'

const nothing: readonly AllocatedDevice[] = []

export class AllocatedDevices {
  /** By the claim's uid. */
  readonly #byClaim = new Map<string, readonly AllocatedDevice[]>()
  /** How many claims have a device for themselves; more than one would be a mistake of somebody. */
  readonly #whole = new Map<string, number>()
  /** Devices that are shared: how many shares are taken, and what of. */
  readonly #shared = new Map<string, { shares: number; readonly sums: Sums }>()

  /** From now on the claim has these devices: those of its allocation. */
  set(uid: string, claim: ResourceClaim | undefined): void {
    for (const device of this.#byClaim.get(uid) ?? nothing) this.#count(device, -1)
    const devices = claim?.status?.allocation?.devices?.results ?? nothing
    for (const device of devices) this.#count(device, 1)
    if (devices.length > 0) this.#byClaim.set(uid, devices)
    else this.#byClaim.delete(uid)
  }

  /** Whether a claim has the device for itself. */
  isTaken(id: string): boolean {
    return this.#whole.has(id)
  }

  /** Whether anybody has something of the device. */
  isUsed(id: string): boolean {
    return this.#whole.has(id) || this.#shared.has(id)
  }

  /** What is taken of a device that is shared. */
  shares(id: string): Sums | undefined {
    return this.#shared.get(id)?.sums
  }

  #count({ driver, pool, device, adminAccess, shareID, consumedCapacity = {} }: AllocatedDevice, by: 1 | -1): void {
    // Who only looks after a device takes nothing away from others.
    if (adminAccess) return
    const id = deviceId(driver, pool, device)
    if (shareID === undefined) {
      const users = (this.#whole.get(id) ?? 0) + by
      if (users > 0) this.#whole.set(id, users)
      else this.#whole.delete(id)
      return
    }
    const shared = this.#shared.get(id) ?? { shares: 0, sums: new Map() }
    shared.shares += by
    addTo(shared.sums, consumedCapacity, by === 1 ? 1n : -1n)
    if (shared.shares > 0) this.#shared.set(id, shared)
    else this.#shared.delete(id)
  }
}
