/** The types of devices, and their ids. */
import type { DeviceClass, ResourceClaim, ResourceSlice } from '../../../../client/kinds.ts'

export type Device = NonNullable<ResourceSlice['spec']['devices']>[number]
export type CounterSet = NonNullable<ResourceSlice['spec']['sharedCounters']>[number]
export type Attribute = NonNullable<Device['attributes']>[string]
export type Capacity = NonNullable<Device['capacity']>[string]

export type ClaimDevices = NonNullable<ResourceClaim['spec']['devices']>
export type Request = NonNullable<ClaimDevices['requests']>[number]
export type ExactRequest = NonNullable<Request['exactly']>
export type Selector = NonNullable<ExactRequest['selectors']>[number]
export type Allocation = NonNullable<NonNullable<ResourceClaim['status']>['allocation']>
export type AllocatedDevice = NonNullable<NonNullable<Allocation['devices']>['results']>[number]
export type AllocatedConfig = NonNullable<NonNullable<Allocation['devices']>['config']>[number]
export type { DeviceClass, ResourceClaim, ResourceSlice }

/** The id of a device, as messages show it. */
export const deviceId = (driver: string, pool: string, device: string): string => `${driver}/${pool}/${device}`

/** The API's limit of devices per claim. */
export const maxDevicesPerClaim = 32
