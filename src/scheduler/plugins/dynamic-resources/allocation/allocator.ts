/**
 * Finds devices for claims on one node: claim by claim, request by request, device by device, and back where it does not work out. The
 * first solution is taken (KEP-4381).
 */
import { isTolerated, keepsAway } from '../../../../machinery/selectors/toleration.ts'
import type { AllocatedDevices } from './allocated-devices.ts'
import { addTo, hasRoom, type Sums, type Taken, takenBy } from './capacity.ts'
import type { Constraint } from './constraints.ts'
import { Counters } from './counters.ts'
import { mostDevices } from './devices.ts'
import type { Pool, PoolDevice } from './pools.ts'
import type { Alternative, ClaimToAllocate } from './requests.ts'

/** A device that a claim gets. */
export interface Chosen {
  readonly alternative: Alternative
  readonly device: PoolDevice
  /** What it takes of a device that others have a share of, too. */
  readonly taken: Taken | undefined
}

/** Allocation failed on this node alone; the message says why. */
export class NodeFault extends Error {}

/** The search took too long. */
export class TimeIsUp extends Error {}

export interface Limits {
  /** In milliseconds since the epoch. */
  readonly deadline: number
  readonly now: () => number
}

/** By claim, its devices; undefined where they cannot all be had. Throws an Error where claims make no sense, a NodeFault or TimeIsUp. */
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

class Search {
  readonly chosen: Chosen[][]
  readonly #claims: readonly ClaimToAllocate[]
  readonly #pools: readonly Pool[]
  readonly #devices: readonly PoolDevice[]
  readonly #allocated: AllocatedDevices
  readonly #limits: Limits
  readonly #constraints: readonly Constraint[][]
  readonly #counters: Counters
  /** By device, the claims that are about to get it. */
  readonly #users = new Map<string, number[]>()
  /** By device, what claims are about to take of it. */
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
  }

  run(): boolean {
    return this.#request(0, 0)
  }

  #request(claimAt: number, requestAt: number): boolean {
    const claim = this.#claims[claimAt]
    if (!claim) return true
    const alternatives = claim.requests[requestAt]
    if (!alternatives) return this.#request(claimAt + 1, 0)
    for (const alternative of alternatives) {
      const all = alternative.wants.allocationMode === 'All' ? this.#allOf(alternative, claim) : undefined
      const count = all ? all.length : (alternative.wants.count ?? 1)
      if (all?.length === 0 || (this.chosen[claimAt]?.length ?? 0) + count > mostDevices) continue
      const done = all ? this.#takeAll(claimAt, requestAt, alternative, all, 0) : this.#takeSome(claimAt, requestAt, alternative, count, 0)
      if (done) return true
    }
    return false
  }

  /** Every device that is meant, which have to be known. */
  #allOf(alternative: Alternative, { claim }: ClaimToAllocate): readonly PoolDevice[] {
    for (const { fault, driver, name } of this.#pools) {
      if (!fault) continue
      const state = fault === 'incomplete' ? 'being updated' : 'invalid'
      const who = `claim ${claim.metadata.namespace}/${claim.metadata.name}, request ${alternative.subRequest ?? alternative.request}`
      throw new NodeFault(`${who}: asks for all devices, but resource pool ${driver}/${name} is currently ${state}`)
    }
    return this.#devices.filter((device) => alternative.selects(device))
  }

  #takeAll(claimAt: number, requestAt: number, alternative: Alternative, all: readonly PoolDevice[], at: number): boolean {
    const device = all[at]
    if (!device) return this.#request(claimAt, requestAt + 1)
    if (!this.#take(claimAt, alternative, device, true)) return false
    if (this.#takeAll(claimAt, requestAt, alternative, all, at + 1)) return true
    this.#giveBack(claimAt)
    return false
  }

  /** Which of its devices a request gets first does not matter: it goes on where it is, and not from the beginning. */
  #takeSome(claimAt: number, requestAt: number, alternative: Alternative, missing: number, from: number): boolean {
    if (missing === 0) return this.#request(claimAt, requestAt + 1)
    if (++this.#steps % stepsBetweenLooks === 0 && this.#limits.now() > this.#limits.deadline) throw new TimeIsUp()
    for (let at = from; at < this.#devices.length; at++) {
      const device = this.#devices[at] as PoolDevice
      if (!this.#isFree(claimAt, alternative, device) || !alternative.selects(device) || !this.#take(claimAt, alternative, device)) continue
      const next = device.device.allowMultipleAllocations ? at : at + 1
      if (this.#takeSome(claimAt, requestAt, alternative, missing - 1, next)) return true
      this.#giveBack(claimAt)
    }
    return false
  }

  #isFree(claimAt: number, { wants }: Alternative, { id, device }: PoolDevice): boolean {
    const users = this.#users.get(id)
    if (wants.adminAccess) return !users?.includes(claimAt)
    if (this.#allocated.isTaken(id)) return false
    return device.allowMultipleAllocations === true || users === undefined
  }

  /** `must`: the claim wants every device, so that one that breaks its constraints is a mistake of the claim. */
  #take(claimAt: number, alternative: Alternative, device: PoolDevice, must = false): boolean {
    const { wants, request, subRequest } = alternative
    if (!this.#isFree(claimAt, alternative, device)) return false
    const taken = takenBy(wants.capacity, device.device)
    const isShared = device.device.allowMultipleAllocations === true && !wants.adminAccess
    if (!taken && (isShared || wants.capacity)) return false
    if (taken && !hasRoom(device.device, taken, isShared ? [this.#allocated.shares(device.id), this.#shares.get(device.id)] : [])) return false
    if (device.device.taints?.some((taint) => keepsAway(taint) && !isTolerated(taint, wants.tolerations))) return false
    // Counters are taken once, however many share the device.
    const takesCounters = !wants.adminAccess && !this.#isInUse(device.id)
    if (takesCounters && !this.#counters.take(device.device, device.pool)) return false
    const constraints = this.#constraints[claimAt] ?? []
    const refuses = constraints.findIndex((constraint) => !constraint.add(request, subRequest, device.device, device.driver))
    if (refuses >= 0) {
      if (must) throw new Error(this.#unfit(claimAt, alternative, device))
      for (const constraint of constraints.slice(0, refuses)) constraint.remove(request, subRequest, device.device, device.driver)
      if (takesCounters) this.#counters.giveBack(device.device, device.pool)
      return false
    }
    this.#users.set(device.id, [...(this.#users.get(device.id) ?? []), claimAt])
    if (isShared && taken) this.#share(device.id, taken, 1n)
    this.chosen[claimAt]?.push({ alternative, device, taken: isShared ? taken : undefined })
    return true
  }

  #unfit(claimAt: number, { request, subRequest }: Alternative, { id }: PoolDevice): string {
    const { namespace, name } = this.#claims[claimAt]?.claim.metadata ?? {}
    return `claim ${namespace}/${name}, request ${subRequest ?? request}: cannot add device ${id} because a claim constraint would not be satisfied`
  }

  #isInUse(id: string): boolean {
    return this.#allocated.isUsed(id) || this.#users.has(id)
  }

  #giveBack(claimAt: number): void {
    const last = this.chosen[claimAt]?.pop()
    if (!last) return
    const { alternative, device, taken } = last
    for (const constraint of this.#constraints[claimAt] ?? []) constraint.remove(alternative.request, alternative.subRequest, device.device, device.driver)
    if (taken) this.#share(device.id, taken, -1n)
    const users = (this.#users.get(device.id) ?? []).slice(0, -1)
    if (users.length > 0) this.#users.set(device.id, users)
    else this.#users.delete(device.id)
    if (!alternative.wants.adminAccess && !this.#isInUse(device.id)) this.#counters.giveBack(device.device, device.pool)
  }

  #share(id: string, taken: Taken, sign: 1n | -1n): void {
    const sums = this.#shares.get(id) ?? new Map<string, bigint>()
    addTo(sums, taken, sign)
    this.#shares.set(id, sums)
  }
}

const stepsBetweenLooks = 64
