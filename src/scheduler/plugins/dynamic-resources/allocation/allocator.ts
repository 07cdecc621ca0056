/**
 * Finds devices for claims on one node: a depth-first search with backtracking over claims, requests and devices. The
 * first solution is used (KEP-4381).
 */
import { isTolerated, preventsScheduling } from '../../../../machinery/selectors/toleration.ts'
import type { AllocatedDevices } from './allocated-devices.ts'
import { addTo, type Consumption, consumptionOf, hasCapacity, type Sums } from './capacity.ts'
import type { Constraint } from './constraints.ts'
import { Counters } from './counters.ts'
import { maxDevicesPerClaim } from './devices.ts'
import type { Pool, PoolDevice } from './pools.ts'
import type { Alternative, ClaimToAllocate } from './requests.ts'

/** A device allocated to a claim. */
export interface Chosen {
  readonly alternative: Alternative
  readonly device: PoolDevice
  /** The consumed capacity of a shared device. */
  readonly taken: Consumption | undefined
}

/** Allocation failed on this node only; the message has the reason. */
export class NodeFault extends Error {}

/** The search exceeded its deadline. */
export class DeadlineExceeded extends Error {}

export interface Limits {
  /** In milliseconds since the epoch. */
  readonly deadline: number
  readonly now: () => number
}

/**
 * Returns the devices by claim; undefined if there is no solution. Throws an Error for invalid claims, a NodeFault or
 * DeadlineExceeded.
 */
export function allocate(
  claims: readonly ClaimToAllocate[],
  pools: readonly Pool[],
  allocated: AllocatedDevices,
  limits: Limits,
): readonly (readonly Chosen[])[] | undefined {
  const search = new Search(claims, pools, allocated, limits)
  if (search.run()) return search.chosen
  if (pools.some(({ fault }) => fault === 'invalid')) throw new NodeFault('invalid resource pools were encountered')
  return undefined
}

/** An alternative and its number of devices; `all` lists the devices if all are requested. */
interface Candidate {
  readonly alternative: Alternative
  readonly count: number
  readonly all: readonly PoolDevice[] | undefined
}

/** `too many`: more than the limit per claim with any devices, so that only other alternatives may help. */
type Outcome = 'found' | 'none' | 'too many'

class Search {
  readonly chosen: Chosen[][]
  readonly #claims: readonly ClaimToAllocate[]
  readonly #pools: readonly Pool[]
  /** By claim and request, in order of preference. */
  readonly #candidates: readonly (readonly (readonly Candidate[])[])[]
  readonly #devices: readonly PoolDevice[]
  readonly #allocated: AllocatedDevices
  readonly #limits: Limits
  readonly #constraints: readonly Constraint[][]
  readonly #counters: Counters
  /** By device, the claims that use it in the current solution. */
  readonly #users = new Map<string, number[]>()
  /** By device, the capacity consumed in the current solution. */
  readonly #shares = new Map<string, Sums>()
  #steps = 0

  constructor(claims: readonly ClaimToAllocate[], pools: readonly Pool[], allocated: AllocatedDevices, limits: Limits) {
    this.#claims = claims
    this.#pools = pools
    this.#devices = pools.flatMap((pool) => (pool.fault ? [] : pool.devices))
    this.#allocated = allocated
    this.#limits = limits
    this.#constraints = claims.map((claim) => claim.constraints())
    this.#counters = new Counters((id) => allocated.isUsed(id))
    this.chosen = claims.map(() => [])
    this.#candidates = claims.map((claim) => this.#alternativesOf(claim))
  }

  run(): boolean {
    return this.#request(0, 0) === 'found'
  }

  #alternativesOf(claim: ClaimToAllocate): readonly (readonly Candidate[])[] {
    const wanted = claim.requests.map((alternatives) =>
      alternatives.map((alternative): Candidate => {
        const all = alternative.wants.allocationMode === 'All' ? this.#allOf(alternative, claim) : undefined
        return { alternative, all, count: all ? all.length : Number(alternative.wants.count ?? 1) }
      }),
    )
    const least = wanted.reduce((sum, alternatives) => sum + Math.min(...alternatives.map(({ count }) => count)), 0)
    const { namespace, name } = claim.claim.metadata
    if (least > maxDevicesPerClaim)
      throw new Error(
        `claim ${namespace}/${name}: number of requested devices ${least} exceeds the claim limit of ` +
          `${maxDevicesPerClaim}`,
      )
    return wanted
  }

  #request(claimAt: number, requestAt: number): Outcome {
    const ofClaim = this.#candidates[claimAt]
    if (!ofClaim) return 'found'
    const alternatives = ofClaim[requestAt]
    if (!alternatives) {
      const others = this.#request(claimAt + 1, 0)
      // A later claim may need fewer devices if this one uses other devices.
      return others === 'too many' ? 'none' : others
    }
    let outcome: Outcome = 'too many'
    for (const wanted of alternatives) {
      const found = this.#alternative(claimAt, requestAt, wanted)
      if (found === 'found') return found
      if (found === 'none') outcome = found
    }
    return outcome
  }

  #alternative(claimAt: number, requestAt: number, { alternative, count, all }: Candidate): Outcome {
    if (all?.length === 0) return 'none'
    if ((this.chosen[claimAt]?.length ?? 0) + count > maxDevicesPerClaim) return 'too many'
    return all
      ? this.#takeAll(claimAt, requestAt, alternative, all, 0)
      : this.#takeSome(claimAt, requestAt, alternative, count, 0)
  }

  /** All selected devices with the requested capacity. All pools have to be valid and complete. */
  #allOf(alternative: Alternative, { claim }: ClaimToAllocate): readonly PoolDevice[] {
    for (const { fault, driver, name } of this.#pools) {
      if (!fault) continue
      const state = fault === 'incomplete' ? 'being updated' : 'invalid'
      const prefix =
        `claim ${claim.metadata.namespace}/${claim.metadata.name}, request ` +
        `${alternative.subRequest ?? alternative.request}`
      throw new NodeFault(`${prefix}: asks for all devices, but resource pool ${driver}/${name} is currently ${state}`)
    }
    return this.#devices.filter(
      (device) => alternative.selects(device) && this.#takenOf(alternative, device) !== undefined,
    )
  }

  #takeAll(
    claimAt: number,
    requestAt: number,
    alternative: Alternative,
    all: readonly PoolDevice[],
    at: number,
  ): Outcome {
    const device = all[at]
    if (!device) return this.#request(claimAt, requestAt + 1)
    if (!this.#take(claimAt, alternative, device, true)) return 'none'
    const outcome = this.#takeAll(claimAt, requestAt, alternative, all, at + 1)
    if (outcome !== 'found') this.#release(claimAt)
    return outcome
  }

  /** The order of a request's devices does not matter, so the search continues behind the last device. */
  #takeSome(claimAt: number, requestAt: number, alternative: Alternative, missing: number, from: number): Outcome {
    if (missing === 0) return this.#request(claimAt, requestAt + 1)
    if (++this.#steps % stepsBetweenClockReads === 0 && this.#limits.now() > this.#limits.deadline)
      throw new DeadlineExceeded()
    for (let at = from; at < this.#devices.length; at++) {
      const device = this.#devices[at] as PoolDevice
      if (
        !this.#isFree(claimAt, alternative, device) ||
        !alternative.selects(device) ||
        !this.#take(claimAt, alternative, device)
      )
        continue
      const outcome = this.#takeSome(claimAt, requestAt, alternative, missing - 1, at + 1)
      if (outcome === 'found') return outcome
      this.#release(claimAt)
      if (outcome === 'too many') return outcome
    }
    return 'none'
  }

  /** The capacity that a request consumes of a device; undefined if the device has not enough left. */
  #takenOf({ wants }: Alternative, { id, device }: PoolDevice): Consumption | undefined {
    const taken = consumptionOf(wants.capacity, device)
    // A device that is exclusive now may have been shared before.
    const others = wants.adminAccess ? [] : [this.#allocated.shares(id), this.#shares.get(id)]
    return taken && hasCapacity(device, taken, others) ? taken : undefined
  }

  #isFree(claimAt: number, { wants }: Alternative, { id, device }: PoolDevice): boolean {
    const users = this.#users.get(id)
    if (wants.adminAccess) return !users?.includes(claimAt)
    if (this.#allocated.isTaken(id)) return false
    return device.allowMultipleAllocations === true || users === undefined
  }

  /** `must`: the claim needs every device, so a violated constraint is an error of the claim. */
  #take(claimAt: number, alternative: Alternative, device: PoolDevice, must = false): boolean {
    const { wants, request, subRequest } = alternative
    if (!this.#isFree(claimAt, alternative, device)) return false
    const taken = this.#takenOf(alternative, device)
    if (!taken) return false
    const isShared = device.device.allowMultipleAllocations === true && !wants.adminAccess
    if (device.device.taints?.some((taint) => preventsScheduling(taint) && !isTolerated(taint, wants.tolerations)))
      return false
    // A shared device consumes its counters once.
    const takesCounters = !wants.adminAccess && !this.#isInUse(device.id)
    if (takesCounters && !this.#counters.take(device.device, device.pool)) return false
    const constraints = this.#constraints[claimAt] ?? []
    const rejects = constraints.findIndex(
      (constraint) => !constraint.add(request, subRequest, device.device, device.driver),
    )
    if (rejects >= 0) {
      if (must) throw new Error(this.#constraintError(claimAt, alternative, device))
      for (const constraint of constraints.slice(0, rejects))
        constraint.remove(request, subRequest, device.device, device.driver)
      if (takesCounters) this.#counters.release(device.device, device.pool)
      return false
    }
    this.#users.set(device.id, [...(this.#users.get(device.id) ?? []), claimAt])
    if (isShared) this.#share(device.id, taken, 1n)
    this.chosen[claimAt]?.push({ alternative, device, taken: isShared ? taken : undefined })
    return true
  }

  #constraintError(claimAt: number, { request, subRequest }: Alternative, { id }: PoolDevice): string {
    const { namespace, name } = this.#claims[claimAt]?.claim.metadata ?? {}
    return (
      `claim ${namespace}/${name}, request ${subRequest ?? request}: cannot add device ${id} because a claim ` +
      'constraint would not be satisfied'
    )
  }

  #isInUse(id: string): boolean {
    return this.#allocated.isUsed(id) || this.#users.has(id)
  }

  #release(claimAt: number): void {
    const last = this.chosen[claimAt]?.pop()
    if (!last) return
    const { alternative, device, taken } = last
    for (const constraint of this.#constraints[claimAt] ?? [])
      constraint.remove(alternative.request, alternative.subRequest, device.device, device.driver)
    if (taken) this.#share(device.id, taken, -1n)
    const users = (this.#users.get(device.id) ?? []).slice(0, -1)
    if (users.length > 0) this.#users.set(device.id, users)
    else this.#users.delete(device.id)
    if (!alternative.wants.adminAccess && !this.#isInUse(device.id)) this.#counters.release(device.device, device.pool)
  }

  #share(id: string, taken: Consumption, sign: 1n | -1n): void {
    const sums = this.#shares.get(id) ?? new Map<string, bigint>()
    addTo(sums, taken, sign)
    this.#shares.set(id, sums)
  }
}

const stepsBetweenClockReads = 64
