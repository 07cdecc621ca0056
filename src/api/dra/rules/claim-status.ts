/** Validation of a ResourceClaim's status: allocation, reservations, and device statuses of drivers. */
import type { ResourceV1ResourceClaim } from '@kubernetes/client-node'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { Model } from '../../../machinery/object.ts'
import { validateConditions } from '../../../machinery/validation/conditions.ts'
import {
  duplicate,
  type FieldError,
  fieldError,
  forbiddenField,
  invalidValue,
  tooLong,
  tooMany,
} from '../../../machinery/validation/field-error.ts'
import {
  all,
  duplicateFinder,
  each,
  follows,
  immutable,
  oneOf,
  requiredText,
  valid,
} from '../../../machinery/validation/field-rules.ts'
import { dnsLabel } from '../../../machinery/validation/names.ts'
import { parseIpRange, rangeText } from '../../../machinery/values/ip-address.ts'
import { nodeSelector } from '../../core/pod/validation/scheduling.ts'
import { configurationRules, parameterRules, requestNames, requestReference, requestReferences } from './claims.ts'
import { limitedList, limitedSet } from './lists.ts'
import { driverName, poolName, shareId } from './names.ts'
import { bindingConditions, deviceTolerations } from './taints.ts'

type Claim = Model<ResourceV1ResourceClaim>
type Status = NonNullable<Claim['status']>
type Allocation = NonNullable<Status['allocation']>
type Result = NonNullable<NonNullable<Allocation['devices']>['results']>[number]
type DeviceStatus = NonNullable<Status['devices']>[number]
type NetworkData = NonNullable<DeviceStatus['networkData']>
type Names = ReadonlySet<string>

const maxReservations = 256
const maxResults = 32
/** The limit for configurations of class and claim together. */
const maxConfigurations = 64
const maxConditions = 8
const maxAddresses = 16
const longestInterface = 256
const longestHardwareAddress = 128

/** Returns the ID of a device, or of a share of it. */
const deviceId = ({ driver, pool, device, shareID }: Pick<Result, 'driver' | 'pool' | 'device' | 'shareID'>): string =>
  [driver, pool, device, ...(shareID ? [shareID] : [])].join('/')

const resultsOf = (status: Status | undefined): readonly Result[] => status?.allocation?.devices?.results ?? []

/** Removes the statuses of devices that are no longer allocated. */
export function removeStaleDevices({ status }: Claim, { status: old }: Claim): void {
  if (!status?.devices) return
  const plain = ({ driver, pool, device }: Result | DeviceStatus): string => deviceId({ driver, pool, device })
  const allocatedIds = new Set(resultsOf(status).map(plain))
  const releasedIds = new Set(
    resultsOf(old)
      .map(plain)
      .filter((id) => !allocatedIds.has(id)),
  )
  const remaining = status.devices.filter((device) => !releasedIds.has(plain(device)))
  status.devices = remaining.length ? remaining : undefined
}

/** Validates a write to `/status`. */
export function claimStatusRules(
  { metadata, spec, status = {} }: Claim,
  { status: old = {} }: Claim,
): readonly FieldError[] {
  const { reservedFor = [], allocation, devices } = status
  const names = requestNames(spec?.devices?.requests)
  return all(
    limitedSet(reservedFor, maxReservations, 'status.reservedFor', userRules, ({ uid }) => uid ?? ''),
    deviceStatuses(devices, new Set(resultsOf(status).map(deviceId))),
    reservedFor.length ? reservations(status, old, metadata.deletionTimestamp !== undefined) : valid,
    allocation && old.allocation ? immutable(allocation, 'status.allocation', old.allocation) : valid,
    allocation && !old.allocation ? allocationRules(allocation, 'status.allocation', names) : valid,
  )
}

const userRules = (
  { resource, name, uid }: NonNullable<Status['reservedFor']>[number],
  path: string,
): readonly FieldError[] =>
  all(requiredText(resource, `${path}.resource`), requiredText(name, `${path}.name`), requiredText(uid, `${path}.uid`))

function reservations(
  { allocation, reservedFor = [] }: Status,
  { reservedFor: old = [] }: Status,
  isDeleted: boolean,
): readonly FieldError[] {
  if (!allocation) return [forbiddenField('status.reservedFor', 'may not be specified when `allocated` is not set')]
  const isAdded = reservedFor.some((user) => !old.some((before) => semanticallyEqual(before, user)))
  return isDeleted && isAdded
    ? [
        forbiddenField(
          'status.reservedFor',
          'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set',
        ),
      ]
    : valid
}

function allocationRules(
  { devices, nodeSelector: selector }: Allocation,
  path: string,
  names: Names,
): readonly FieldError[] {
  return all(
    limitedList(devices?.results, maxResults, `${path}.devices.results`, (result, at) =>
      resultRules(result, at, names),
    ),
    limitedList(devices?.config, maxConfigurations, `${path}.devices.config`, (one, at) =>
      all(
        oneOf(one.source, `${at}.source`, ['FromClaim', 'FromClass'], 'needed'),
        requestReferences(one.requests, `${at}.requests`, names),
        configurationRules(one, at),
      ),
    ),
    selector ? nodeSelector(selector, `${path}.nodeSelector`) : valid,
  )
}

const resultRules = (result: Result, path: string, names: Names): readonly FieldError[] =>
  all(
    requestReference(result.request ?? '', `${path}.request`, names),
    driverName(result.driver, `${path}.driver`),
    poolName(result.pool, `${path}.pool`),
    follows(result.device ?? '', `${path}.device`, dnsLabel),
    bindingConditions(result, path),
    deviceTolerations(result.tolerations, `${path}.tolerations`),
    shareId(result.shareID, `${path}.shareID`),
  )

function deviceStatuses(devices: Status['devices'], allocated: Names): readonly FieldError[] {
  const isRepeated = duplicateFinder<string>()
  return all(
    each(devices, 'status.devices', (device, at) => deviceStatus(device, at, allocated)),
    each(devices, 'status.devices', (device, at) =>
      isRepeated(deviceId(device)) ? [duplicate(at, deviceId(device))] : valid,
    ),
  )
}

function deviceStatus(device: DeviceStatus, path: string, allocated: Names): readonly FieldError[] {
  // Go clients encode empty lists as null.
  const conditions = device.conditions ?? []
  return all(
    driverName(device.driver, `${path}.driver`),
    poolName(device.pool, `${path}.pool`),
    follows(device.device ?? '', `${path}.device`, dnsLabel),
    shareId(device.shareID, `${path}.shareID`),
    allocated.has(deviceId(device))
      ? valid
      : [
          fieldError(
            'FieldValueInvalid',
            path,
            `Invalid value: ${deviceId(device)}: must be an allocated device in the claim`,
          ),
        ],
    conditions.length > maxConditions ? [tooMany(`${path}.conditions`, conditions.length, maxConditions)] : valid,
    validateConditions(conditions, `${path}.conditions`),
    device.data ? parameterRules(device.data, `${path}.data`) : valid,
    device.networkData ? networkRules(device.networkData, `${path}.networkData`) : valid,
  )
}

const networkRules = (
  { interfaceName = '', hardwareAddress = '', ips }: NetworkData,
  path: string,
): readonly FieldError[] =>
  all(
    interfaceName.length > longestInterface ? [tooLong(`${path}.interfaceName`, longestInterface)] : valid,
    hardwareAddress.length > longestHardwareAddress
      ? [tooLong(`${path}.hardwareAddress`, longestHardwareAddress)]
      : valid,
    limitedSet(ips, maxAddresses, `${path}.ips`, interfaceAddress, (ip) => ip),
  )

/** Validates a canonical address with a prefix length. */
function interfaceAddress(text: string, path: string): readonly FieldError[] {
  try {
    const canonical = rangeText(parseIpRange(text))
    return canonical === text ? valid : [invalidValue(path, text, `must be in canonical form ("${canonical}")`)]
  } catch {
    return [invalidValue(path, text, 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)')]
  }
}
