/** What the plug-in remembers of a pod while it looks for a node: from PreFilter to PreBind. */
import type { NodeMatcher } from '../../../machinery/selectors/node-selector.ts'
import type { Allocation, ResourceClaim } from './allocation/devices.ts'
import type { ClaimToAllocate } from './allocation/requests.ts'
import type { RequestMapping } from './extended/claim.ts'

/** What a pod would get on a node: devices for `toAllocate`, in its order. */
export interface Found {
  readonly allocations: readonly Allocation[]
  /** The claim that has to be made for extended resources, with its devices. */
  readonly extended?: ExtendedClaim
  /** Higher where requests are met as they prefer. */
  readonly rank: number
}

export interface ExtendedClaim {
  readonly claim: ResourceClaim
  readonly allocation: Allocation
  readonly mappings: readonly RequestMapping[]
}

export interface Filtering {
  readonly claims: readonly ResourceClaim[]
  /** Where claims can be used that have their devices. */
  readonly places: readonly NodeMatcher[]
  /** Whether a claim has devices that are of no use anywhere. */
  readonly hasLost: boolean
  readonly toAllocate: readonly ClaimToAllocate[]
  /** Extended resources that the pod asks for, some of which may be devices, with their classes. */
  readonly resources: ReadonlyMap<string, string>
  /** What was made for them before, when the pod could not be bound. */
  readonly leftOver: ResourceClaim | undefined
  readonly byNode: Map<string, Found>
  /** What PreBind has made for them. */
  made?: ResourceClaim
}
