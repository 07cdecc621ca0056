/** The claims including changes in flight, and the devices allocated to them. */
import { type ResourceClaim, resourceClaims } from '../../../../client/kinds.ts'
import type { Handle, Lister } from '../../../framework/index.ts'
import { Assumed } from '../../assumed.ts'
import { AllocatedDevices } from '../allocation/allocated-devices.ts'
import type { Allocation } from '../allocation/devices.ts'

const uidOf = ({ metadata }: ResourceClaim): string => metadata.uid ?? ''

export class ClaimTracker {
  readonly allocated = new AllocatedDevices()
  readonly #claims: Lister<ResourceClaim>
  readonly #assumed: Assumed<ResourceClaim>
  /** By uid: allocations by Reserve that are not written yet. */
  readonly #inFlight = new Map<string, ResourceClaim>()

  constructor(handle: Pick<Handle, 'lister'>) {
    this.#claims = handle.lister(resourceClaims)
    this.#assumed = new Assumed(this.#claims)
    this.#claims.onChange((claim, before) => {
      if (claim) this.#count(this.#assumed.of(claim))
      if (before && before.metadata.uid !== claim?.metadata.uid) this.allocated.set(uidOf(before), undefined)
    })
  }

  get(namespace: string, name: string): ResourceClaim | undefined {
    return this.#assumed.get(namespace, name)
  }

  in(namespace: string): Iterable<ResourceClaim> {
    return this.#claims.in(namespace)
  }

  onChange(handler: (claim: ResourceClaim | undefined) => void): void {
    this.#claims.onChange((claim) => handler(claim))
  }

  /** Returns true if the claim is being allocated for another pod. */
  isInFlight(claim: ResourceClaim): boolean {
    return this.#inFlight.has(uidOf(claim))
  }

  /** Marks the devices as allocated to the claim. */
  reserve(claim: ResourceClaim, allocation: Allocation): void {
    this.#inFlight.set(uidOf(claim), { ...claim, status: { ...claim.status, allocation } })
    this.#count(claim)
  }

  /** Reverts `reserve`. */
  unreserve(claim: ResourceClaim): void {
    if (!this.#inFlight.delete(uidOf(claim))) return
    this.allocated.set(uidOf(claim), this.get(claim.metadata.namespace ?? '', claim.metadata.name ?? ''))
  }

  /** Stores the claim as it was written. */
  storeWritten(claim: ResourceClaim): void {
    this.#inFlight.delete(uidOf(claim))
    this.#assumed.assume(claim)
    this.#count(claim)
  }

  #count(claim: ResourceClaim): void {
    this.allocated.set(uidOf(claim), this.#inFlight.get(uidOf(claim)) ?? claim)
  }
}
