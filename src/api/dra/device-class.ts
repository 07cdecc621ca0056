/** DeviceClasses: kinds of devices that claims may ask for. */
import type { V1DeviceClass } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { type FieldError, required } from '../../machinery/validation/field-error.ts'
import { age, name, resource } from '../resource.ts'
import { servedAlso } from '../served-also.ts'

type DeviceClass = Model<V1DeviceClass>

export const deviceClasses = resource<DeviceClass>({
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'DeviceClass',
  plural: 'deviceclasses',
  scope: 'Cluster',
  generation: 'spec',
  validate: { object: classRules },
  columns: [name, age],
})

function classRules({ spec }: DeviceClass): readonly FieldError[] {
  return (spec?.selectors ?? []).flatMap(({ cel }, at) => (cel?.expression ? [] : [required(`spec.selectors[${at}].cel`)]))
}

export const betaDeviceClasses = [servedAlso(deviceClasses, 'v1beta2', 'V1beta2DeviceClass'), servedAlso(deviceClasses, 'v1beta1', 'V1beta1DeviceClass')]
