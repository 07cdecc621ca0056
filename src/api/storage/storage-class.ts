/** StorageClasses: provisioning parameters of volumes. */

import type { V1StorageClass } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { duplicate, type FieldError, invalidValue, required, tooLong } from '../../machinery/validation/field-error.ts'
import { duplicateFinder, follows, immutable, oneOf } from '../../machinery/validation/field-rules.ts'
import { map } from '../../machinery/validation/internal-type.ts'
import { qualifiedName } from '../../machinery/validation/names.ts'
import { nodeLabelWarning } from '../core/cluster/node-labels.ts'
import { isDefault } from '../core/storage/binding/storage-class.ts'
import { age, type Column, column, name, resource } from '../resource.ts'

type StorageClass = Model<V1StorageClass>

const nameWithDefault: Column<StorageClass> = {
  ...name,
  cell: (storageClass) => `${storageClass.metadata.name}${isDefault(storageClass) ? ' (default)' : ''}`,
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
  warnings: ({ allowedTopologies = [] }) =>
    allowedTopologies.flatMap(({ matchLabelExpressions = [] }, i) =>
      matchLabelExpressions.flatMap(({ key }, j) => {
        const message = nodeLabelWarning(key)
        return message ? [`allowedTopologies[${i}].matchLabelExpressions[${j}].key: ${key} is ${message}`] : []
      }),
    ),
  columns: [
    nameWithDefault,
    column('Provisioner', ({ provisioner }) => provisioner, {
      description: 'The provisioner of volumes of the class.',
    }),
    column('ReclaimPolicy', ({ reclaimPolicy }) => reclaimPolicy ?? 'Delete', {
      description: 'What happens to a volume after its claim is deleted.',
    }),
    column('VolumeBindingMode', ({ volumeBindingMode }) => volumeBindingMode ?? '<unset>', {
      description: 'When claims are bound: Immediate or WaitForFirstConsumer.',
    }),
    column('AllowVolumeExpansion', ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false, {
      description: 'Whether claims can be expanded.',
    }),
    age,
  ],
  deletion: { returnsObject: true },
})

function classRules({
  provisioner,
  parameters,
  reclaimPolicy,
  volumeBindingMode,
  allowedTopologies,
}: StorageClass): readonly FieldError[] {
  const errors = provisioner
    ? [...follows(provisioner.toLowerCase(), 'provisioner', qualifiedName)]
    : [required('provisioner')]
  errors.push(
    ...parameterRules(parameters),
    ...oneOf(reclaimPolicy, 'reclaimPolicy', ['Delete', 'Retain']),
    ...oneOf(volumeBindingMode, 'volumeBindingMode', ['Immediate', 'WaitForFirstConsumer']),
  )
  const terms: string[] = []
  allowedTopologies?.forEach(({ matchLabelExpressions }, at) => {
    const keys = new Set<string>()
    matchLabelExpressions?.forEach(({ key, values: given }, index) => {
      const values = given ?? []
      const path = `allowedTopologies[${at}].matchLabelExpressions[${index}]`
      if (values.length === 0) errors.push(required(`${path}.values`))
      const isRepeated = duplicateFinder<string>()
      values.forEach((value, n) => {
        if (isRepeated(value)) errors.push(duplicate(`${path}.values[${n}]`, value))
      })
      errors.push(...follows(key ?? '', `${path}.key`, qualifiedName))
      if (keys.has(key)) errors.push(duplicate(`${path}.key`, key))
      keys.add(key)
    })
    const term = JSON.stringify(matchLabelExpressions?.map(({ key, values }) => [key, values?.toSorted()]).sort())
    for (const before of terms)
      if (before === term) errors.push(duplicate(`allowedTopologies[${at}].matchLabelExpressions`, ''))
    terms.push(term)
  })
  return errors
}

const maxParameters = 512
const maxParameterBytes = 256 * 1024

/** Validates parameters: their number and size are limited, their content depends on the driver. */
export function parameterRules(parameters: Readonly<Record<string, string>> | undefined): readonly FieldError[] {
  const entries = Object.entries(parameters ?? {})
  if (entries.length > maxParameters) return [tooLong('parameters', maxParameters)]
  const errors: FieldError[] = []
  if (entries.some(([key]) => key === '')) errors.push(invalidValue('parameters', '', 'field can not be empty.'))
  const bytes = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0)
  return bytes > maxParameterBytes ? [...errors, tooLong('parameters', maxParameterBytes)] : errors
}

function classUpdateRules(storageClass: StorageClass, old: StorageClass): readonly FieldError[] {
  return (['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'] as const).flatMap((field) =>
    immutable(storageClass[field], field, old[field], field === 'parameters' ? map : undefined),
  )
}
