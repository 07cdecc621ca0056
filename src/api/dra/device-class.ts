/** DeviceClasses: kinds of devices that claims may ask for. */
import type { V1DeviceClass } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import type { FieldError } from '../../machinery/validation/field-error.ts'
import { all } from '../../machinery/validation/field-rules.ts'
import { age, name, resource } from '../resource.ts'
import { servedAlso } from '../served-also.ts'
import { classConfigurations, selectorRules } from './device-rules.ts'

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
  return all(selectorRules(spec?.selectors, 'spec.selectors'), classConfigurations(spec?.config, 'spec.config'))
}

export const betaDeviceClasses = [servedAlso(deviceClasses, 'v1beta2', 'V1beta2DeviceClass'), servedAlso(deviceClasses, 'v1beta1', 'V1beta1DeviceClass')]
