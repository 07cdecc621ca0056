/** Counts ResourceClaims and the devices that they may get, by device class. */
import type { ResourceV1ResourceClaim } from '@kubernetes/client-node'
import type { Model } from '../../../../machinery/object.ts'
import type { ResourceList } from '../resource-list.ts'
import type { Usage } from './usage.ts'

const count = 'count/resourceclaims.resource.k8s.io'
const devices = '.deviceclass.resource.k8s.io/devices'

/** As many devices as a claim can get. */
const mostDevices = 32

interface Wanted {
  readonly deviceClassName?: string
  readonly allocationMode?: string
  readonly count?: number
}

/** Requests of older versions are flat. */
interface DeviceRequest extends Wanted {
  readonly exactly?: Wanted
  readonly firstAvailable?: readonly Wanted[]
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

/** By class: of several possibilities the one that takes most. */
function devicesOf(request: DeviceRequest): Map<string, number> {
  const most = new Map<string, number>()
  for (const wanted of request.firstAvailable?.length ? request.firstAvailable : [request.exactly ?? request]) {
    const { deviceClassName = '' } = wanted
    most.set(deviceClassName, Math.max(most.get(deviceClassName) ?? 0, numberOf(wanted)))
  }
  return most
}

function numberOf({ allocationMode, count: exact = 1 }: Wanted): number {
  if (allocationMode === 'All') return mostDevices
  return allocationMode === 'ExactCount' ? exact : 0
}
