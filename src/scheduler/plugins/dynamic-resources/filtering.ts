/** The state of the plug-in for one pod, from PreFilter to PreBind. */
import type { NodeMatcher } from '../../../machinery/selectors/node-selector.ts'
import type { Allocation, ResourceClaim } from './allocation/devices.ts'
import type { ClaimToAllocate } from './allocation/requests.ts'
import type { RequestMapping } from './extended/claim.ts'

/** The allocations for a pod on a node: devices for `toAllocate`, in its order. */
export interface NodeAllocations {
  readonly allocations: readonly Allocation[]
  /** The claim to create for extended resources, with its devices. */
  readonly extended?: ExtendedClaim
  /** Higher if earlier alternatives are used. */
  readonly rank: number
}

export interface ExtendedClaim {
  readonly claim: ResourceClaim
  readonly allocation: Allocation
  readonly mappings: readonly RequestMapping[]
}

export interface Filtering {
  readonly claims: readonly ResourceClaim[]
  /** The nodes on which allocated claims can be used. */
  readonly allocatedNodes: readonly NodeMatcher[]
  /** True if the devices of a claim cannot be used on any node. */
  readonly hasUnusableClaim: boolean
  readonly toAllocate: readonly ClaimToAllocate[]
  /** Extended resources of the pod that may be devices, with their classes. */
  readonly resources: ReadonlyMap<string, string>
  /** A claim created for extended resources by an earlier attempt that failed. */
  readonly staleClaim: ResourceClaim | undefined
  readonly byNode: Map<string, NodeAllocations>
  /** The claim that PreBind created for extended resources. */
  createdClaim?: ResourceClaim
}
