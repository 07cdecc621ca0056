/** ResourceSlices: devices that drivers offer. */
import type { V1ResourceSlice } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { duplicate, type FieldError, invalidValue, required, tooMany } from '../../machinery/validation/field-error.ts'
import { all, immutable, requiredRule } from '../../machinery/validation/field-rules.ts'
import { dnsLabel, dnsSubdomain } from '../../machinery/validation/names.ts'
import { age, column, name, resource } from '../resource.ts'
import { servedAlso } from '../served-also.ts'
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
  const errors = [...requiredRule(spec?.driver, 'spec.driver', dnsSubdomain)]
  if (!spec?.pool?.name) errors.push(required('spec.pool.name'))
  const places = [spec?.nodeName, spec?.nodeSelector, spec?.allNodes, spec?.perDeviceNodeSelection].filter(Boolean).length
  if (places === 0) errors.push(required('spec', 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required'))
  if (places > 1)
    errors.push(
      invalidValue('spec', null, 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields are set'),
    )
  const devices = spec?.devices ?? []
  if (devices.length > mostDevices) errors.push(tooMany('spec.devices', devices.length, mostDevices))
  const names = new Set<string>()
  devices.forEach(({ name: device }, at) => {
    errors.push(...requiredRule(device, `spec.devices[${at}].name`, dnsLabel))
    if (names.has(device)) errors.push(duplicate(`spec.devices[${at}]`, device))
    names.add(device)
  })
  return errors
}

export const betaResourceSlices = [
  servedAlso(resourceSlices, 'v1beta2', 'V1beta2ResourceSlice'),
  servedAlso(resourceSlices, 'v1beta1', 'V1beta1ResourceSlice', { toStorage: sliceFromBasic, fromStorage: sliceToBasic }),
]
