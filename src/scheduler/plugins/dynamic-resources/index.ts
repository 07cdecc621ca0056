/** DynamicResources: allocates devices for the ResourceClaims of pods, on a node that has them (KEP-4381). */
import { type DeviceClass, deviceClasses } from '../../../client/kinds.ts'
import { parseDurationMs } from '../../../lib/duration.ts'
import { type NodeMatcher, nodeSelectorOf } from '../../../machinery/selectors/node-selector.ts'
import { invalidValue } from '../../../machinery/validation/field-error.ts'
import {
  type Cycle,
  type EventRegistration,
  failed,
  type Handle,
  type Lister,
  type NodeInfo,
  type Plugin,
  type PodInfo,
  type PostFilterResult,
  type PreFiltered,
  pluginFactory,
  type Rejection,
  type Status,
  skip,
  unresolvable,
  unschedulable,
} from '../../framework/index.ts'
import { scaleProportionally } from '../normalize.ts'
import type { ResourceClaim } from './allocation/devices.ts'
import type { ClaimToAllocate } from './allocation/requests.ts'
import { ClaimBinding } from './binding.ts'
import { hasBindingConditions, isUnusable } from './claims/binding-conditions.ts'
import { ClaimTracker } from './claims/claim-tracker.ts'
import { claimsOf, faultOf, isReservedFor, isUsedByOthers } from './claims/pod-claims.ts'
import { deallocate } from './claims/publish.ts'
import { missingRequests, staleClaimOf } from './extended/claim.ts'
import { backedResources, classesByResource } from './extended/classes.ts'
import { deleteClaim } from './extended/publish.ts'
import type { Filtering } from './filtering.ts'
import { events } from './hints.ts'
import { NodeAllocator } from './node-allocator.ts'

export interface DynamicResourcesArgs {
  /** The longest search for devices on a node, as a Go duration; 0 for no limit. */
  readonly filterTimeout: string
  /** How long devices may take to become ready, as a Go duration. */
  readonly bindingTimeout: string
}

const elsewhere = unresolvable('resourceclaim not available on the node')
const stale = unresolvable('cannot schedule extended resource claim')

export const dynamicResources = pluginFactory<DynamicResourcesArgs>({
  name: 'DynamicResources',
  args: {
    fields: { filterTimeout: { kind: 'string' }, bindingTimeout: { kind: 'string' } },
    withDefaults: (given) => ({ filterTimeout: '10s', bindingTimeout: '10m', ...given }),
    validate({ filterTimeout, bindingTimeout }, path) {
      const binding = parseDurationMs(bindingTimeout)
      return [
        ...(parseDurationMs(filterTimeout) === undefined
          ? [invalidValue(`${path}.filterTimeout`, filterTimeout, 'must be zero or positive')]
          : []),
        ...(binding === undefined || binding < 1000
          ? [invalidValue(`${path}.bindingTimeout`, bindingTimeout, 'must be at least 1 second')]
          : []),
      ]
    },
  },
  make: (args, handle) => new DynamicResources(args, handle),
})

/**
 * The result for pods without claims: there is nothing to deallocate, and no reason worth showing
 * (docs/decisions/0033-reasons-worth-reading.md).
 */
const nothingToDeallocate: PostFilterResult = { status: unschedulable() }

class DynamicResources implements Plugin<Filtering, Filtering> {
  readonly events: readonly EventRegistration[]
  readonly #handle: Handle
  readonly #bindingTimeoutMs: number
  readonly #tracker: ClaimTracker
  readonly #classes: Lister<DeviceClass>
  /** The class that backs an extended resource. */
  readonly #classOfResource: (resource: string) => DeviceClass | undefined
  readonly #allocator: NodeAllocator
  readonly #binding: ClaimBinding

  constructor({ filterTimeout, bindingTimeout }: DynamicResourcesArgs, handle: Handle) {
    this.#handle = handle
    this.#bindingTimeoutMs = parseDurationMs(bindingTimeout) ?? 0
    this.#tracker = new ClaimTracker(handle)
    this.#classes = handle.lister(deviceClasses)
    this.#classOfResource = classesByResource(handle)
    this.#allocator = new NodeAllocator(handle, this.#tracker, parseDurationMs(filterTimeout) ?? 0)
    this.#binding = new ClaimBinding(handle, this.#tracker, this.#bindingTimeoutMs)
    this.events = events(this.#tracker)
  }

  preEnqueue(pod: PodInfo): Status | undefined {
    const claims = claimsOf(pod, this.#tracker)
    return typeof claims === 'string' ? unresolvable(claims) : undefined
  }

  preFilter(pod: PodInfo): PreFiltered<Filtering> | Status {
    const claims = claimsOf(pod, this.#tracker)
    if (typeof claims === 'string') return unresolvable(claims)
    const resources = backedResources(pod, this.#classOfResource)
    if (claims.length === 0 && resources.size === 0) return skip
    for (const claim of claims) {
      const fault = faultOf(claim, pod, this.#tracker, this.#classes)
      if (fault !== undefined) return unresolvable(fault)
    }
    return {
      state: {
        claims,
        allocatedNodes: claims.flatMap((claim) => allocatedNodesOf(claim) ?? []),
        hasUnusableClaim: claims.some((claim) => this.#isUnusable(claim)),
        toAllocate: claims.filter(({ status }) => !status?.allocation).map((claim) => this.#allocator.prepare(claim)),
        resources,
        staleClaim: this.#staleClaimOf(pod, resources),
        byNode: new Map(),
      },
    }
  }

  filter(state: Filtering, pod: PodInfo, node: NodeInfo): Status | undefined {
    if (state.hasUnusableClaim || !state.allocatedNodes.every((isUsable) => isUsable(node.node))) return elsewhere
    if (state.staleClaim) return stale
    const requests = missingRequests(state.resources, pod, node)
    if (state.toAllocate.length === 0 && !requests) return undefined
    const found = this.#allocator.allocate(state.toAllocate, requests, pod, node)
    if ('code' in found) return found
    state.byNode.set(node.name, found)
    return undefined
  }

  postFilter({ pod }: Cycle, rejections: ReadonlyMap<string, Rejection>): PostFilterResult | Promise<PostFilterResult> {
    if (!pod.pod.spec?.resourceClaims?.length && backedResources(pod, this.#classOfResource).size === 0)
      return nothingToDeallocate
    const isElsewhere = [...rejections.values()].some(({ status }) => status === elsewhere)
    return this.#deallocateUnused(pod, isElsewhere).then((reason) => ({ status: unschedulable(reason) }))
  }

  preScore(
    _pod: PodInfo,
    _nodes: readonly NodeInfo[],
    state: Filtering | undefined,
  ): { readonly state: Filtering } | Status {
    return state?.toAllocate.some(hasAlternatives) ? { state } : skip
  }

  score({ byNode }: Filtering, _pod: PodInfo, node: NodeInfo): number {
    return byNode.get(node.name)?.rank ?? 0
  }

  normalize(_state: Filtering, _pod: PodInfo, scores: number[]): void {
    scaleProportionally(scores)
  }

  reserve(state: Filtering | undefined, _pod: PodInfo, node: string): undefined {
    const found = state?.byNode.get(node)
    state?.toAllocate.forEach(({ claim }, at) => {
      const allocation = found?.allocations[at]
      if (allocation) this.#tracker.reserve(claim, allocation)
    })
    if (found?.extended) this.#tracker.reserve(found.extended.claim, found.extended.allocation)
  }

  unreserve(state: Filtering | undefined, pod: PodInfo, node: string): void {
    const extended = state?.byNode.get(node)?.extended
    if (extended) this.#tracker.unreserve(extended.claim)
    for (const { claim } of state?.toAllocate ?? []) this.#tracker.unreserve(claim)
    if (state) this.#binding.undo(state, pod)
  }

  needsPreBind(state: Filtering | undefined, pod: PodInfo, node: string): boolean {
    if (!state) return false
    if (state.byNode.get(node)?.extended) return true
    return state.claims.some((claim) => !isReservedFor(claim, pod) || hasBindingConditions(claim))
  }

  async preBind(
    state: Filtering | undefined,
    pod: PodInfo,
    node: string,
    signal: AbortSignal,
  ): Promise<Status | undefined> {
    if (!state) return undefined
    try {
      await this.#binding.bind(state, pod, node, signal)
      return undefined
    } catch (error) {
      return failed(error)
    }
  }

  /**
   * Deallocates a claim of the pod that no other pod uses, so that it can get other devices. Returns the result for the
   * pod's status.
   */
  async #deallocateUnused(pod: PodInfo, isElsewhere: boolean): Promise<string> {
    const { client } = this.#handle
    const claims = claimsOf(pod, this.#tracker)
    const resources = backedResources(pod, this.#classOfResource)
    const staleClaim = this.#staleClaimOf(pod, resources)
    if (staleClaim) {
      await deleteClaim(staleClaim, client)
      return 'deletion of ResourceClaim completed'
    }
    if (typeof claims === 'string' || (claims.length === 0 && resources.size === 0)) return noNewClaims
    // Filter was not called for any node.
    if (claims.some((claim) => faultOf(claim, pod, this.#tracker, this.#classes) !== undefined)) return noNewClaims
    const unused = isElsewhere
      ? claims.find((claim) => this.#preventsNodes(claim) && !isUsedByOthers(claim, pod))
      : undefined
    if (!unused) return 'still not schedulable'
    this.#tracker.storeWritten(await deallocate(unused, client))
    return 'deallocation of ResourceClaim completed'
  }

  /** A claim created for the pod's extended resources by an earlier attempt. */
  #staleClaimOf(pod: PodInfo, resources: ReadonlyMap<string, string>): ResourceClaim | undefined {
    return resources.size > 0 ? staleClaimOf(pod, this.#tracker.in(pod.namespace)) : undefined
  }

  #isUnusable(claim: ResourceClaim): boolean {
    return isUnusable(claim, this.#bindingTimeoutMs, this.#handle.now())
  }

  /** Returns true if there is a node on which the claim's devices cannot be used. */
  #preventsNodes(claim: ResourceClaim): boolean {
    const isAllowed = allocatedNodesOf(claim)
    if (isAllowed && this.#handle.snapshot.nodes.some(({ node }) => !isAllowed(node))) return true
    return this.#isUnusable(claim)
  }
}

const noNewClaims = 'no new claims to deallocate'

/** The nodes on which an allocated claim can be used. Undefined: all. */
function allocatedNodesOf({ status }: ResourceClaim): NodeMatcher | undefined {
  const selector = status?.allocation?.nodeSelector
  return selector && nodeSelectorOf(selector)
}

const hasAlternatives = ({ requests }: ClaimToAllocate): boolean =>
  requests.some((alternatives) => alternatives.length > 1)
