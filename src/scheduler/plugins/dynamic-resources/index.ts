/** DynamicResources: allocates devices for the ResourceClaims of pods, on a node that has them (KEP-4381). */
import { deviceClasses, resourceSlices } from '../../../client/kinds.ts'
import { parseDurationMs } from '../../../lib/duration.ts'
import { nodeSelectorOf } from '../../../machinery/selectors/node-selector.ts'
import { invalidValue } from '../../../machinery/validation/field-error.ts'
import {
  failed,
  type Handle,
  type NodeInfo,
  type Plugin,
  type PodInfo,
  type PostFilterResult,
  type PreFiltered,
  pluginFactory,
  type Status,
  skip,
  unresolvable,
  unschedulable,
} from '../../framework/index.ts'
import { scaleProportionally } from '../normalize.ts'
import { allocationOf } from './allocation/allocation-result.ts'
import { allocate, type Chosen, DeadlineExceeded, NodeFault } from './allocation/allocator.ts'
import type { ResourceClaim } from './allocation/devices.ts'
import { poolsOf } from './allocation/pools.ts'
import { type ClaimToAllocate, claimToAllocate, Selectors } from './allocation/requests.ts'
import { ClaimBinding } from './binding.ts'
import { hasBindingConditions, isUnusable } from './claims/binding-conditions.ts'
import { ClaimTracker } from './claims/claim-tracker.ts'
import { canBeReserved, claimsOf, isReservedFor } from './claims/pod-claims.ts'
import { deallocate } from './claims/publish.ts'
import { claimFor, type DeviceRequests, requestsOf, staleClaimOf } from './extended/claim.ts'
import { classesByResource } from './extended/classes.ts'
import { deleteClaim } from './extended/publish.ts'
import type { Filtering, NodeAllocations } from './filtering.ts'
import { events } from './hints.ts'

export interface DynamicResourcesArgs {
  /** The longest search for devices on a node, as a Go duration; 0 for no limit. */
  readonly filterTimeout: string
  /** How long devices may take to become ready, as a Go duration. */
  readonly bindingTimeout: string
}

const noDevices = unresolvable('cannot allocate all claims')
const elsewhere = unresolvable('resourceclaim not available on the node')
const stale = unresolvable('cannot schedule extended resource claim')
const timedOut = unresolvable('timed out trying to allocate devices')

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
  make,
})

/**
 * The result for pods without claims: there is nothing to deallocate, and no reason worth showing
 * (docs/decisions/0033-reasons-worth-reading.md).
 */
const nothingToDeallocate: PostFilterResult = { status: unschedulable() }

function make(args: DynamicResourcesArgs, handle: Handle): Plugin<Filtering, Filtering> {
  const [filterTimeoutMs = 0, bindingTimeoutMs = 0] = [
    parseDurationMs(args.filterTimeout),
    parseDurationMs(args.bindingTimeout),
  ]
  const classes = handle.lister(deviceClasses)
  const slices = handle.lister(resourceSlices)
  const tracker = new ClaimTracker(handle)
  const selectors = new Selectors()
  const binding = new ClaimBinding(handle, tracker, bindingTimeoutMs)
  const classOf = classesByResource(handle)
  const classNamed = (name: string) => classes.get('', name)

  return {
    events: events(tracker),

    preEnqueue(pod) {
      const found = claimsOf(pod, tracker)
      return typeof found === 'string' ? unresolvable(found) : undefined
    },

    preFilter(pod): PreFiltered<Filtering> | Status {
      const claims = claimsOf(pod, tracker)
      if (typeof claims === 'string') return unresolvable(claims)
      const resources = resourcesOf(pod)
      if (claims.length === 0 && resources.size === 0) return skip
      for (const claim of claims) {
        const fault = faultOf(claim, pod)
        if (fault !== undefined) return unresolvable(fault)
      }
      const toAllocate = claims
        .filter(({ status }) => !status?.allocation)
        .map((claim) => claimToAllocate(claim, classNamed, selectors))
      const places = claims.flatMap(({ status }) =>
        status?.allocation?.nodeSelector ? [nodeSelectorOf(status.allocation.nodeSelector)] : [],
      )
      const former = resources.size > 0 ? staleClaimOf(pod, tracker.in(pod.namespace)) : undefined
      const hasLost = claims.some(isUnusableClaim)
      return {
        state: {
          claims,
          allocatedNodes: places,
          hasUnusableClaim: hasLost,
          toAllocate,
          resources,
          staleClaim: former,
          byNode: new Map(),
        },
      }
    },

    filter(state, pod, node) {
      if (state.hasUnusableClaim || !state.allocatedNodes.every((isUsable) => isUsable(node.node))) return elsewhere
      if (state.staleClaim) return stale
      const asked = extendedOn(state, pod, node)
      if (state.toAllocate.length === 0 && !asked) return undefined
      const found = search(state.toAllocate, asked, pod, node)
      if ('code' in found) return found
      state.byNode.set(node.name, found)
      return undefined
    },

    postFilter({ pod }, rejections) {
      if (!pod.pod.spec?.resourceClaims?.length && resourcesOf(pod).size === 0) return nothingToDeallocate
      const isElsewhere = [...rejections.values()].some(({ status }) => status === elsewhere)
      return deallocateUnused(pod, isElsewhere).then((reason) => ({ status: unschedulable(reason) }))
    },

    preScore: (_pod, _nodes, state) => (state?.toAllocate.some(prefers) ? { state } : skip),
    score: ({ byNode }, _pod, node) => byNode.get(node.name)?.rank ?? 0,
    normalize: (_state, _pod, scores) => scaleProportionally(scores),

    reserve(state, _pod, node) {
      const found = state?.byNode.get(node)
      state?.toAllocate.forEach(({ claim }, at) => {
        const allocation = found?.allocations[at]
        if (allocation) tracker.reserve(claim, allocation)
      })
      if (found?.extended) tracker.reserve(found.extended.claim, found.extended.allocation)
      return undefined
    },

    unreserve(state, pod, node) {
      const extended = state?.byNode.get(node)?.extended
      if (extended) tracker.unreserve(extended.claim)
      for (const { claim } of state?.toAllocate ?? []) tracker.unreserve(claim)
      if (state) binding.undo(state, pod)
    },

    needsPreBind: (state, pod, node) =>
      state !== undefined &&
      (state.byNode.get(node)?.extended !== undefined ||
        state.claims.some((claim) => !isReservedFor(claim, pod) || hasBindingConditions(claim))),

    async preBind(state, pod, node, signal) {
      if (!state) return undefined
      try {
        await binding.bind(state, pod, node, signal)
        return undefined
      } catch (error) {
        return failed(error)
      }
    },
  }

  /** The reason why a claim excludes all nodes. */
  function faultOf(claim: ResourceClaim, pod: PodInfo): string | undefined {
    if (claim.status?.allocation)
      return !canBeReserved(claim) && !isReservedFor(claim, pod) ? 'resourceclaim in use' : undefined
    const { namespace, name } = claim.metadata
    if (tracker.isInFlight(claim)) return `resource claim ${namespace}/${name} is in the process of being allocated`
    for (const { name: request, exactly, firstAvailable = [] } of claim.spec.devices?.requests ?? []) {
      const wanted = exactly
        ? [[request, exactly.deviceClassName]]
        : firstAvailable.map((one) => [`${request}/${one.name}`, one.deviceClassName])
      for (const [of, className = ''] of wanted)
        if (!classNamed(className)) return `request ${of}: device class ${className} does not exist`
    }
    return undefined
  }

  /** The extended resources of the pod that are backed by a device class, with the name of the class. */
  function resourcesOf({ requests }: PodInfo): ReadonlyMap<string, string> {
    const found = new Map<string, string>()
    for (const [name, amount] of requests.scalar) {
      const backing = amount > 0 ? classOf(name)?.metadata.name : undefined
      if (backing !== undefined) found.set(name, backing)
    }
    return found
  }

  /** The requests for devices on this node: for extended resources that the node itself does not have. */
  function extendedOn({ resources }: Filtering, pod: PodInfo, { allocatable }: NodeInfo): DeviceRequests | undefined {
    const missing = new Map([...resources].filter(([name]) => (allocatable.scalar.get(name) ?? 0) === 0))
    return missing.size > 0 ? requestsOf(pod, missing) : undefined
  }

  function search(
    given: readonly ClaimToAllocate[],
    asked: DeviceRequests | undefined,
    pod: PodInfo,
    { node, name }: NodeInfo,
  ): NodeAllocations | Status {
    try {
      const claims = asked ? [...given, claimToAllocate(claimFor(pod, asked.requests), classNamed, selectors)] : given
      const limits = {
        deadline: filterTimeoutMs > 0 ? handle.now() + filterTimeoutMs : Number.POSITIVE_INFINITY,
        now: handle.now,
      }
      const chosen = allocate(claims, poolsOf(node, slices), tracker.allocated, limits)
      if (!chosen) return noDevices
      const allocations = claims.map(({ claim }, at) => allocationOf(claim, chosen[at] ?? [], name))
      const [claim, allocation] = asked ? [claims.at(-1)?.claim, allocations.at(-1)] : []
      return {
        allocations,
        rank: rankOf(claims, chosen),
        ...(asked && claim && allocation && { extended: { claim, allocation, mappings: asked.mappings } }),
      }
    } catch (error) {
      if (error instanceof DeadlineExceeded) return timedOut
      if (error instanceof NodeFault) return unresolvable(error.message)
      throw error
    }
  }

  /** Deallocates a claim of the pod that no other pod uses, so that it can get other devices. */
  async function deallocateUnused(pod: PodInfo, isElsewhere: boolean): Promise<string> {
    const claims = claimsOf(pod, tracker)
    const isExtended = resourcesOf(pod).size > 0
    const former = isExtended ? staleClaimOf(pod, tracker.in(pod.namespace)) : undefined
    if (former) {
      await deleteClaim(former, handle.client)
      return 'deletion of ResourceClaim completed'
    }
    if (typeof claims === 'string' || (claims.length === 0 && !isExtended)) return 'no new claims to deallocate'
    // Filter was not called for any node.
    if (claims.some((claim) => faultOf(claim, pod) !== undefined)) return 'no new claims to deallocate'
    for (const claim of isElsewhere ? claims.filter((one) => isLimited(one) || isUnusableClaim(one)) : []) {
      const others = claim.status?.reservedFor?.filter(({ uid }) => uid !== pod.pod.metadata.uid) ?? []
      if (others.length > 0) continue
      tracker.storeWritten(await deallocate(claim, handle.client))
      return 'deallocation of ResourceClaim completed'
    }
    return 'still not schedulable'
  }

  function isUnusableClaim(claim: ResourceClaim): boolean {
    return isUnusable(claim, bindingTimeoutMs, handle.now())
  }

  /** Returns true if there is a node on which the claim's devices cannot be used. */
  function isLimited({ status }: ResourceClaim): boolean {
    const selector = status?.allocation?.nodeSelector
    if (!selector) return false
    const matches = nodeSelectorOf(selector)
    return handle.snapshot.nodes.some(({ node }) => !matches(node))
  }
}

const prefers = ({ requests }: ClaimToAllocate): boolean => requests.some((alternatives) => alternatives.length > 1)

/** The API's limit of alternatives per request. */
const maxAlternatives = 8

function rankOf(claims: readonly ClaimToAllocate[], chosen: readonly (readonly Chosen[])[]): number {
  const taken = new Set(chosen.flat().map(({ alternative }) => alternative))
  let rank = 0
  for (const alternatives of claims.flatMap(({ requests }) => requests)) {
    const place = alternatives.findIndex((alternative) => taken.has(alternative))
    if (alternatives[0]?.subRequest !== undefined && place >= 0) rank += maxAlternatives - place
  }
  return rank
}
