/** Validation of ResourceSlices. */
import type { V1ResourceSliceSpec } from '@kubernetes/client-node'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { Wire } from '../../../machinery/object.ts'
import { type FieldError, invalidValue, required } from '../../../machinery/validation/field-error.ts'
import { all, follows, requiredRule, valid } from '../../../machinery/validation/field-rules.ts'
import { dnsLabel, dnsSubdomain } from '../../../machinery/validation/names.ts'
import { nodeSelector } from '../../core/pod/validation/scheduling.ts'
import { attributeRules } from './attributes.ts'
import { deviceCapacity } from './capacity.ts'
import { limitedList, limitedMap, limitedSet } from './lists.ts'
import { attributeName, driverName, poolName } from './names.ts'
import { bindingConditions, deviceTaint } from './taints.ts'

export type SliceSpec = Wire<V1ResourceSliceSpec>
type Device = NonNullable<SliceSpec['devices']>[number]
type Counters = NonNullable<SliceSpec['sharedCounters']>[number]['counters']
type Place = Pick<Device, 'nodeName' | 'nodeSelector' | 'allNodes'>

const maxDevices = 128
/** The limit if a device has taints, counters or list attributes. */
const maxComplexDevices = 64
const maxCounterSets = 8
const maxCounters = 32
const maxCounterSetsUsed = 2
const maxTaints = 16

const oneOfPlaces = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required'
const onePlacePerDevice =
  'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to ' +
  'true in the ResourceSlice spec'

/** Validates `spec` of a slice; unchanged taints and capacities of `old` devices may be invalid. */
export function sliceRules(spec: Partial<SliceSpec> = {}, old?: Partial<SliceSpec>): readonly FieldError[] {
  const { driver, pool, devices, sharedCounters, perDeviceNodeSelection: perDevice } = spec
  const before = new Map(old?.devices?.map((device) => [device.name, device]))
  return all(
    driverName(driver, 'spec.driver'),
    poolRules(pool),
    placeRules(spec),
    sharedCounters && devices
      ? [invalidValue('spec', '', 'only one of `sharedCounters` or `devices` is allowed')]
      : valid,
    limitedSet(
      devices,
      devices?.some(isComplex) ? maxComplexDevices : maxDevices,
      'spec.devices',
      (device, at) => deviceRules(device, at, before.get(device.name), perDevice === true),
      ({ name }) => name,
    ),
    limitedSet(
      sharedCounters,
      maxCounterSets,
      'spec.sharedCounters',
      ({ name, counters }, at) =>
        all(requiredRule(name, `${at}.name`, dnsLabel), counterRules(counters, `${at}.counters`)),
      ({ name }) => name,
    ),
  )
}

const isComplex = ({ taints, consumesCounters, attributes = {} }: Device): boolean =>
  Boolean(taints?.length || consumesCounters?.length) ||
  Object.values(attributes).some(({ bools, ints, strings, versions }) => bools ?? ints ?? strings ?? versions)

const poolRules = (pool: Partial<SliceSpec['pool']> = {}): readonly FieldError[] =>
  all(
    poolName(pool.name, 'spec.pool.name'),
    (pool.resourceSliceCount ?? 0) <= 0
      ? [invalidValue('spec.pool.resourceSliceCount', pool.resourceSliceCount ?? 0, 'must be greater than zero')]
      : valid,
    (pool.generation ?? 0) < 0
      ? [invalidValue('spec.pool.generation', pool.generation, 'must be greater than or equal to zero')]
      : valid,
  )

/** Validates the node selection of the slice. */
function placeRules(spec: Partial<SliceSpec>): readonly FieldError[] {
  const { nodeSelector: selector, perDeviceNodeSelection: perDevice } = spec
  const terms = selector?.nodeSelectorTerms
  const given = [...placesOf(spec), ...(perDevice ? ['`perDeviceNodeSelection`'] : [])]
  return all(
    nodeNameRules(spec.nodeName, 'spec.nodeName', 'must be either unset or set to a non-empty string'),
    selector ? nodeSelector(selector, 'spec.nodeSelector') : valid,
    selector && terms?.length !== 1
      ? [invalidValue('spec.nodeSelector.nodeSelectorTerms', terms, 'must have exactly one node selector term')]
      : valid,
    neverFalse(spec.allNodes, 'spec.allNodes'),
    neverFalse(perDevice, 'spec.perDeviceNodeSelection'),
    given.length === 0 ? [required('spec', oneOfPlaces)] : valid,
    given.length > 1
      ? [invalidValue('spec', `{${given.join(', ')}}`, `${oneOfPlaces}, but multiple fields are set`)]
      : valid,
  )
}

const placesOf = ({ nodeName, nodeSelector: selector, allNodes }: Place): string[] => [
  ...(nodeName ? ['`nodeName`'] : []),
  ...(selector ? ['`nodeSelector`'] : []),
  ...(allNodes ? ['`allNodes`'] : []),
]

const nodeNameRules = (name: string | undefined, path: string, whenEmpty: string): readonly FieldError[] =>
  name === '' ? [invalidValue(path, name, whenEmpty)] : follows(name, path, dnsSubdomain)

const neverFalse = (value: boolean | undefined, path: string): readonly FieldError[] =>
  value === false ? [invalidValue(path, value, 'must be either unset or set to true')] : valid

function deviceRules(device: Device, path: string, old: Device | undefined, isPlaced: boolean): readonly FieldError[] {
  const { capacity, taints, consumesCounters, allowMultipleAllocations: isShared = false } = device
  return all(
    follows(device.name ?? '', `${path}.name`, dnsLabel),
    attributeRules(device, path),
    old && semanticallyEqual(old.capacity, capacity)
      ? valid
      : limitedMap(capacity, Number.POSITIVE_INFINITY, `${path}.capacity`, attributeName, (one, at) =>
          deviceCapacity(one, at, isShared),
        ),
    old && semanticallyEqual(old.taints, taints)
      ? valid
      : limitedList(taints, maxTaints, `${path}.taints`, (taint, at) => deviceTaint(taint, at)),
    limitedSet(
      consumesCounters,
      maxCounterSetsUsed,
      `${path}.consumesCounters`,
      ({ counterSet, counters }, at) =>
        all(requiredRule(counterSet, `${at}.counterSet`, dnsLabel), counterRules(counters, `${at}.counters`)),
      ({ counterSet }) => counterSet,
    ),
    isPlaced ? devicePlaceRules(device, path) : noPlace(device, path),
    bindingConditions(device, path),
  )
}

const counterRules = (counters: Counters | undefined, path: string): readonly FieldError[] =>
  Object.keys(counters ?? {}).length === 0
    ? [required(path)]
    : limitedMap(
        counters,
        maxCounters,
        path,
        (name, at) => follows(name, at, dnsLabel),
        () => valid,
      )

function devicePlaceRules(device: Device, path: string): readonly FieldError[] {
  const given = placesOf(device)
  return all(
    nodeNameRules(device.nodeName, `${path}.nodeName`, 'must not be empty'),
    device.nodeSelector ? nodeSelector(device.nodeSelector, `${path}.nodeSelector`) : valid,
    neverFalse(device.allNodes, `${path}.allNodes`),
    given.length === 0 ? [required(path, onePlacePerDevice)] : valid,
    given.length > 1 ? [invalidValue(path, `{${given.join(', ')}}`, onePlacePerDevice)] : valid,
  )
}

const noPlace = ({ nodeName, nodeSelector: selector, allNodes }: Device, path: string): readonly FieldError[] =>
  nodeName === undefined && selector === undefined && allNodes === undefined
    ? valid
    : [
        invalidValue(
          path,
          null,
          '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true ' +
            'in the ResourceSlice spec',
        ),
      ]
