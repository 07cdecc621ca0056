/** DeviceClasses: kinds of devices that claims may request. */
import type { V1DeviceClass } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { type FieldError, invalidValue } from '../../machinery/validation/field-error.ts'
import { all } from '../../machinery/validation/field-rules.ts'
import { qualifiedName } from '../../machinery/validation/names.ts'
import { additionalVersion } from '../additional-version.ts'
import { isExtendedResource } from '../core/quota/resource-list.ts'
import { age, name, resource } from '../resource.ts'
import { classConfigurations, selectorRules } from './rules/claims.ts'

type DeviceClass = Model<V1DeviceClass>

export const deviceClasses = resource<DeviceClass>({
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'DeviceClass',
  plural: 'deviceclasses',
  scope: 'Cluster',
  deletion: { returnsObject: true },
  generation: 'spec',
  validate: { object: classRules },
  columns: [name, age],
})

function classRules({ spec }: DeviceClass): readonly FieldError[] {
  const { selectors, config, extendedResourceName: extended } = spec ?? {}
  return all(
    selectorRules(selectors, 'spec.selectors'),
    classConfigurations(config, 'spec.config'),
    extended === undefined || isExtendedName(extended)
      ? []
      : [invalidValue('spec.extendedResourceName', extended, 'must be a valid extended resource name')],
  )
}

/** The name must also be valid in quotas, with the prefix `requests.`. */
const isExtendedName = (text: string): boolean =>
  isExtendedResource(text) && qualifiedName(`requests.${text}`).length === 0

export const betaDeviceClasses = [
  additionalVersion(deviceClasses, 'v1beta2', 'V1beta2DeviceClass'),
  additionalVersion(deviceClasses, 'v1beta1', 'V1beta1DeviceClass'),
]
