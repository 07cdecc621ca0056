/** Allocates devices of a node for the claims and extended resources of a pod. */
import { type DeviceClass, deviceClasses, type ResourceSlice, resourceSlices } from '../../../client/kinds.ts'
import {
  type Handle,
  type Lister,
  type NodeInfo,
  type PodInfo,
  type Status,
  unresolvable,
} from '../../framework/index.ts'
import { allocationOf } from './allocation/allocation-result.ts'
import { allocate, type Chosen, DeadlineExceeded, NodeFault } from './allocation/allocator.ts'
import type { ResourceClaim } from './allocation/devices.ts'
import { poolsOf } from './allocation/pools.ts'
import { type ClaimToAllocate, claimToAllocate, Selectors } from './allocation/requests.ts'
import type { ClaimTracker } from './claims/claim-tracker.ts'
import { claimFor, type DeviceRequests } from './extended/claim.ts'
import type { NodeAllocations } from './filtering.ts'

const noDevices = unresolvable('cannot allocate all claims')
const timedOut = unresolvable('timed out trying to allocate devices')

export class NodeAllocator {
  readonly #tracker: ClaimTracker
  readonly #classes: Lister<DeviceClass>
  readonly #slices: Lister<ResourceSlice>
  readonly #selectors = new Selectors()
  readonly #timeoutMs: number

  /** `timeoutMs`: the longest search on a node; 0 for no limit. */
  constructor(handle: Pick<Handle, 'lister'>, tracker: ClaimTracker, timeoutMs: number) {
    this.#tracker = tracker
    this.#classes = handle.lister(deviceClasses)
    this.#slices = handle.lister(resourceSlices)
    this.#timeoutMs = timeoutMs
  }

  /** Throws an Error with the names of claim and request if they are invalid. */
  prepare(claim: ResourceClaim): ClaimToAllocate {
    return claimToAllocate(claim, (name) => this.#classes.get('', name), this.#selectors)
  }

  /**
   * Returns the devices for `claims` and `extended` requests (these get a claim of their own), or the reason why the
   * node does not have them.
   */
  allocate(
    claims: readonly ClaimToAllocate[],
    extended: DeviceRequests | undefined,
    pod: PodInfo,
    node: NodeInfo,
  ): NodeAllocations | Status {
    try {
      if (!extended) return this.#search(claims, node) ?? noDevices
      const claim = claimFor(pod, extended.requests)
      const found = this.#search([...claims, this.prepare(claim)], node)
      const allocation = found?.allocations.at(-1)
      if (!found || !allocation) return noDevices
      return { ...found, extended: { claim, allocation, mappings: extended.mappings } }
    } catch (error) {
      if (error instanceof DeadlineExceeded) return timedOut
      if (error instanceof NodeFault) return unresolvable(error.message)
      throw error
    }
  }

  #search(claims: readonly ClaimToAllocate[], { node, name }: NodeInfo): NodeAllocations | undefined {
    // The time that the search takes, whatever the cluster's clock shows.
    const now = (): number => performance.now()
    const deadline = this.#timeoutMs > 0 ? now() + this.#timeoutMs : Number.POSITIVE_INFINITY
    const pools = poolsOf(node, this.#slices)
    const chosen = allocate(claims, pools, this.#tracker.allocated, { deadline, now })
    if (!chosen) return undefined
    const allocations = claims.map(({ claim }, at) => allocationOf(claim, chosen[at] ?? [], name))
    return { allocations, rank: rankOf(claims, chosen) }
  }
}

/** The API's limit of alternatives per request. */
const maxAlternatives = 8

function rankOf(claims: readonly ClaimToAllocate[], chosen: readonly (readonly Chosen[])[]): number {
  const used = new Set(chosen.flat().map(({ alternative }) => alternative))
  let rank = 0
  for (const alternatives of claims.flatMap(({ requests }) => requests)) {
    const place = alternatives.findIndex((alternative) => used.has(alternative))
    if (alternatives[0]?.subRequest !== undefined && place >= 0) rank += maxAlternatives - place
  }
  return rank
}
