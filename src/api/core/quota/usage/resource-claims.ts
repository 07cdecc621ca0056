/** Counts ResourceClaims and their requested devices by device class. */
import type { ResourceV1ResourceClaim } from '@kubernetes/client-node'
import type { Model } from '../../../../machinery/object.ts'
import type { ResourceList } from '../resource-list.ts'
import type { Usage } from './usage.ts'

const count = 'count/resourceclaims.resource.k8s.io'
const devices = '.deviceclass.resource.k8s.io/devices'

/** The maximum number of devices of a claim. */
const maxDevices = 32

interface ExactRequest {
  readonly deviceClassName?: string
  readonly allocationMode?: string
  readonly count?: number
}

/** Requests of v1beta1 have no `exactly`. */
interface DeviceRequest extends ExactRequest {
  readonly exactly?: ExactRequest
  readonly firstAvailable?: readonly ExactRequest[]
}

export const resourceClaimUsage: Usage = {
  matching: (names) => names.filter((name) => name === count || name.endsWith(devices)),
  usage(object) {
    const { spec } = object as Model<ResourceV1ResourceClaim>
    const byClass = new Map<string, number>()
    for (const request of (spec?.devices?.requests ?? []) as readonly DeviceRequest[]) {
      for (const [name, number] of devicesOf(request)) byClass.set(name, (byClass.get(name) ?? 0) + number)
    }
    const usage: ResourceList = { [count]: '1' }
    for (const [name, number] of byClass) usage[`${name}${devices}`] = String(number)
    return usage
  },
}

/** Returns the devices by class: for alternatives, the maximum. */
function devicesOf(request: DeviceRequest): Map<string, number> {
  const most = new Map<string, number>()
  for (const wanted of request.firstAvailable?.length ? request.firstAvailable : [request.exactly ?? request]) {
    const { deviceClassName = '' } = wanted
    most.set(deviceClassName, Math.max(most.get(deviceClassName) ?? 0, numberOf(wanted)))
  }
  return most
}

function numberOf({ allocationMode, count: exact = 1 }: ExactRequest): number {
  if (allocationMode === 'All') return maxDevices
  return allocationMode === 'ExactCount' ? exact : 0
}
