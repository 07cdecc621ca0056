/** StorageClasses: how volumes are made for claims. */

import type { V1StorageClass } from '@kubernetes/client-node'
import { semanticallyEqual } from '../../machinery/equality.ts'
import { duplicate, type FieldError, forbiddenField, invalidValue, required, tooLong } from '../../machinery/field-error.ts'
import { qualifiedName } from '../../machinery/names.ts'
import type { Model } from '../../machinery/object.ts'
import { follows, immutable, oneOf } from '../field-rules.ts'
import { age, type Column, column, name, resource } from '../resource.ts'

type StorageClass = Model<V1StorageClass>

const defaultAnnotations = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class']

/** Whether claims without a class get this one. */
export const isDefaultClass = ({ metadata }: StorageClass): boolean => defaultAnnotations.some((key) => metadata.annotations?.[key] === 'true')

const nameWithDefault: Column<StorageClass> = {
  ...name,
  cell: (storageClass) => `${storageClass.metadata.name}${isDefaultClass(storageClass) ? ' (default)' : ''}`,
}

export const storageClasses = resource<StorageClass>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'StorageClass',
  plural: 'storageclasses',
  shortNames: ['sc'],
  scope: 'Cluster',
  defaults: [{ reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }],
  validate: { object: classRules, update: classUpdateRules },
  columns: [
    nameWithDefault,
    column('Provisioner', ({ provisioner }) => provisioner),
    column('ReclaimPolicy', ({ reclaimPolicy }) => reclaimPolicy ?? 'Delete'),
    column('VolumeBindingMode', ({ volumeBindingMode }) => volumeBindingMode ?? '<unset>'),
    column('AllowVolumeExpansion', ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false),
    age,
  ],
  deletion: { returnsObject: true },
})

function classRules({ provisioner, parameters, reclaimPolicy, volumeBindingMode, allowedTopologies }: StorageClass): FieldError[] {
  const errors = provisioner
    ? qualifiedName(provisioner.toLowerCase()).map((message) => invalidValue('provisioner', provisioner, message))
    : [required('provisioner')]
  errors.push(
    ...parameterRules(parameters),
    ...oneOf('reclaimPolicy', reclaimPolicy, ['Delete', 'Retain']),
    ...oneOf('volumeBindingMode', volumeBindingMode, ['Immediate', 'WaitForFirstConsumer']),
  )
  allowedTopologies?.forEach(({ matchLabelExpressions }, at) => {
    const keys = new Set<string>()
    matchLabelExpressions?.forEach(({ key, values: given }, index) => {
      const values = given ?? []
      const path = `allowedTopologies[${at}].matchLabelExpressions[${index}]`
      if (values.length === 0) errors.push(required(`${path}.values`))
      values.forEach((value, n) => {
        if (values.indexOf(value) < n) errors.push(duplicate(`${path}.values[${n}]`, value))
      })
      errors.push(...follows(`${path}.key`, key ?? '', qualifiedName))
      if (keys.has(key)) errors.push(duplicate(`${path}.key`, key))
      keys.add(key)
    })
  })
  return errors
}

const mostParameters = 512
const mostParameterBytes = 256 * 1024

/** Parameters mean something to drivers only; their number and size are bounded. */
export function parameterRules(parameters: Readonly<Record<string, string>> | undefined): FieldError[] {
  const entries = Object.entries(parameters ?? {})
  const errors = entries.length > mostParameters ? [tooLong('Provisioner Parameters', mostParameters)] : []
  if (entries.some(([key]) => key === '')) errors.push(invalidValue('parameters', '', 'field can not be empty.'))
  const bytes = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0)
  return bytes > mostParameterBytes ? [...errors, tooLong('parameters', mostParameterBytes)] : errors
}

function classUpdateRules(storageClass: StorageClass, old: StorageClass): FieldError[] {
  const fixed = (['parameters', 'provisioner', 'reclaimPolicy'] as const).filter((field) => !semanticallyEqual(storageClass[field], old[field]))
  return [
    ...fixed.map((field) => forbiddenField(field, `updates to ${field} are forbidden.`)),
    ...immutable('volumeBindingMode', storageClass.volumeBindingMode, old.volumeBindingMode),
  ]
}
