/** ResourceSlices: devices that drivers offer. */
import type { V1ResourceSlice } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { duplicate, type FieldError, invalidValue, required, tooLong, tooMany } from '../../machinery/validation/field-error.ts'
import { all, immutable, requiredRule } from '../../machinery/validation/field-rules.ts'
import { dnsLabel } from '../../machinery/validation/names.ts'
import { csiDriver as driverName } from '../core/pod/validation/volumes/volumes.ts'
import { age, column, name, resource } from '../resource.ts'
import { servedAlso } from '../served-also.ts'
import { attributeName, poolName } from './device-rules.ts'
import { sliceFromBasic, sliceToBasic } from './flat-requests.ts'

type ResourceSlice = Model<V1ResourceSlice>

const mostDevices = 128

export const resourceSlices = resource<ResourceSlice>({
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'ResourceSlice',
  plural: 'resourceslices',
  scope: 'Cluster',
  generation: 'spec',
  selectableFields: { 'spec.nodeName': ({ spec }) => spec?.nodeName, 'spec.driver': ({ spec }) => spec?.driver },
  validate: {
    object: sliceRules,
    update: ({ spec }, { spec: old }) =>
      all(
        immutable(spec.driver, 'spec.driver', old.driver),
        immutable(spec.pool?.name, 'spec.pool.name', old.pool?.name),
        immutable(spec.nodeName, 'spec.nodeName', old.nodeName),
      ),
  },
  columns: [
    name,
    column('Node', ({ spec }) => spec?.nodeName ?? (spec?.allNodes ? '<all nodes>' : ''), { description: 'The node that has the devices.' }),
    column('Driver', ({ spec }) => spec?.driver ?? '', { description: 'The driver that offers them.' }),
    column('Pool', ({ spec }) => spec?.pool?.name ?? '', { description: 'The pool that they belong to.' }),
    age,
  ],
})

function sliceRules({ spec }: ResourceSlice): readonly FieldError[] {
  const errors = [...driverName(spec?.driver, 'spec.driver'), ...poolRules(spec?.pool)]
  const places = [spec?.nodeName, spec?.nodeSelector, spec?.allNodes, spec?.perDeviceNodeSelection].filter(Boolean).length
  if (places === 0) errors.push(required('spec', 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required'))
  if (places > 1)
    errors.push(
      invalidValue('spec', null, 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields are set'),
    )
  const devices = spec?.devices ?? []
  if (devices.length > mostDevices) errors.push(tooMany('spec.devices', devices.length, mostDevices))
  const names = new Set<string>()
  devices.forEach(({ name: device, attributes, capacity }, at) => {
    errors.push(...requiredRule(device, `spec.devices[${at}].name`, dnsLabel))
    if (names.has(device)) errors.push(duplicate(`spec.devices[${at}]`, device))
    names.add(device)
    errors.push(...attributeRules(attributes, capacity, `spec.devices[${at}]`))
  })
  return errors
}

const poolRules = (pool: Partial<NonNullable<ResourceSlice['spec']>['pool']> = {}): readonly FieldError[] =>
  all(
    poolName(pool.name, 'spec.pool.name'),
    (pool.resourceSliceCount ?? 0) <= 0 ? [invalidValue('spec.pool.resourceSliceCount', pool.resourceSliceCount ?? 0, 'must be greater than zero')] : [],
    (pool.generation ?? 0) < 0 ? [invalidValue('spec.pool.generation', pool.generation, 'must be greater than or equal to zero')] : [],
  )

type Device = NonNullable<NonNullable<ResourceSlice['spec']>['devices']>[number]

const mostAttributes = 32
const longestValue = 64

/** Attributes and capacities of a device share one bound. */
function attributeRules(attributes: Device['attributes'] = {}, capacity: Device['capacity'] = {}, path: string): readonly FieldError[] {
  const count = Object.keys(attributes).length + Object.keys(capacity).length
  return all(
    count > mostAttributes ? [invalidValue(path, count, `the total number of attributes and capacities must not exceed ${mostAttributes}`)] : [],
    Object.entries(attributes).flatMap(([name, value]) => {
      const at = `${path}.attributes[${name}]`
      return all(attributeName(name, at), valueRules(value, at))
    }),
    Object.keys(capacity).flatMap((name) => attributeName(name, `${path}.capacity[${name}]`)),
  )
}

function valueRules(value: NonNullable<Device['attributes']>[string], path: string): readonly FieldError[] {
  const given = (['int', 'bool', 'string', 'version'] as const).filter((type) => value[type] !== undefined)
  const text = value.string ?? value.version ?? ''
  return all(
    given.length === 0 ? [required(path, 'exactly one value must be specified')] : [],
    given.length > 1 ? [invalidValue(path, value, 'exactly one value must be specified')] : [],
    text.length > longestValue ? [tooLong(`${path}.${value.string === undefined ? 'version' : 'string'}`, longestValue)] : [],
  )
}

export const betaResourceSlices = [
  servedAlso(resourceSlices, 'v1beta2', 'V1beta2ResourceSlice'),
  servedAlso(resourceSlices, 'v1beta1', 'V1beta1ResourceSlice', { toStorage: sliceFromBasic, fromStorage: sliceToBasic }),
]
