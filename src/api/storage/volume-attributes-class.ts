/** VolumeAttributesClasses: attributes that can be changed on existing volumes. */

import type { V1VolumeAttributesClass } from '@kubernetes/client-node'
import { semanticallyEqual } from '../../machinery/equality.ts'
import type { Model } from '../../machinery/object.ts'
import { type FieldError, forbiddenField, required } from '../../machinery/validation/field-error.ts'
import { all, follows } from '../../machinery/validation/field-rules.ts'
import { qualifiedName } from '../../machinery/validation/names.ts'
import { additionalVersion } from '../additional-version.ts'
import { age, type Column, column, name, resource } from '../resource.ts'
import { parameterRules } from './storage-class.ts'

type AttributesClass = Model<V1VolumeAttributesClass> & { parameters?: Record<string, string> }

const defaultAnnotation = 'storageclass.kubernetes.io/is-default-class'
const nameWithDefault: Column<AttributesClass> = {
  ...name,
  cell: ({ metadata }) => `${metadata.name}${metadata.annotations?.[defaultAnnotation] === 'true' ? ' (default)' : ''}`,
}

export const volumeAttributesClasses = resource<AttributesClass>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'VolumeAttributesClass',
  plural: 'volumeattributesclasses',
  shortNames: ['vac'],
  scope: 'Cluster',
  validate: { object: classRules, update: classUpdateRules },
  columns: [
    nameWithDefault,
    column('DriverName', ({ driverName }) => driverName, { description: 'The driver of the attributes.' }),
    age,
  ],
  deletion: { returnsObject: true },
})

function classRules({ driverName, parameters }: AttributesClass): readonly FieldError[] {
  const errors = driverName
    ? [...follows(driverName.toLowerCase(), 'driverName', qualifiedName)]
    : [required('driverName')]
  errors.push(...parameterRules(parameters))
  return Object.keys(parameters ?? {}).length > 0
    ? errors
    : [...errors, required('parameters', 'must contain at least one key/value pair')]
}

function classUpdateRules({ driverName, parameters }: AttributesClass, old: AttributesClass): readonly FieldError[] {
  return all(
    driverName === old.driverName ? [] : [forbiddenField('driverName', 'updates to driverName are forbidden.')],
    semanticallyEqual(parameters, old.parameters)
      ? []
      : [forbiddenField('parameters', 'updates to parameters are forbidden.')],
  )
}

export const betaVolumeAttributesClasses = additionalVersion(
  volumeAttributesClasses,
  'v1beta1',
  'V1beta1VolumeAttributesClass',
)
