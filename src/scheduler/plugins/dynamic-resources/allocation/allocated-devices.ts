/** The devices allocated to claims, updated claim by claim. */
import { addTo, type Sums } from './capacity.ts'
import { type AllocatedDevice, deviceId, type ResourceClaim } from './devices.ts'

const nothing: readonly AllocatedDevice[] = []

export class AllocatedDevices {
  /** By the claim's uid. */
  readonly #byClaim = new Map<string, readonly AllocatedDevice[]>()
  /** The number of claims that have a device exclusively; more than one is an inconsistency. */
  readonly #exclusive = new Map<string, number>()
  /** Shared devices: the number of shares and their total consumption. */
  readonly #shared = new Map<string, { shares: number; readonly sums: Sums }>()

  /** Sets the devices of a claim to those of its allocation. */
  set(uid: string, claim: ResourceClaim | undefined): void {
    for (const device of this.#byClaim.get(uid) ?? nothing) this.#count(device, -1)
    const devices = claim?.status?.allocation?.devices?.results ?? nothing
    for (const device of devices) this.#count(device, 1)
    if (devices.length > 0) this.#byClaim.set(uid, devices)
    else this.#byClaim.delete(uid)
  }

  /** Returns true if a claim has the device exclusively. */
  isTaken(id: string): boolean {
    return this.#exclusive.has(id)
  }

  /** Returns true if the device is allocated, exclusively or in part. */
  isUsed(id: string): boolean {
    return this.#exclusive.has(id) || this.#shared.has(id)
  }

  /** The consumed capacity of a shared device. */
  shares(id: string): Sums | undefined {
    return this.#shared.get(id)?.sums
  }

  #count({ driver, pool, device, adminAccess, shareID, consumedCapacity = {} }: AllocatedDevice, by: 1 | -1): void {
    // Admin access takes nothing from other claims.
    if (adminAccess) return
    const id = deviceId(driver, pool, device)
    if (shareID === undefined) {
      const users = (this.#exclusive.get(id) ?? 0) + by
      if (users > 0) this.#exclusive.set(id, users)
      else this.#exclusive.delete(id)
      return
    }
    const shared = this.#shared.get(id) ?? { shares: 0, sums: new Map() }
    shared.shares += by
    addTo(shared.sums, consumedCapacity, by === 1 ? 1n : -1n)
    if (shared.shares > 0) this.#shared.set(id, shared)
    else this.#shared.delete(id)
  }
}
