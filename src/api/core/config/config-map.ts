/** ConfigMaps: configuration as keys and values, text or binary. */
import type { V1ConfigMap } from '@kubernetes/client-node'
import type { Model } from '../../../machinery/object.ts'
import { type FieldError, forbiddenField, invalidValue, tooLong } from '../../../machinery/validation/field-error.ts'
import { follows, valid } from '../../../machinery/validation/field-rules.ts'
import { configMapKey } from '../../../machinery/validation/names.ts'
import { age, column, name, resource } from '../../resource.ts'
import { base64Length, maxDataBytes, validateImmutableFields } from './data-rules.ts'

type ConfigMap = Model<V1ConfigMap>

function rules({ data = {}, binaryData = {} }: ConfigMap): readonly FieldError[] {
  const errors: FieldError[] = []
  let size = 0
  for (const key in data) {
    errors.push(...follows(key, `data[${key}]`, configMapKey))
    if (Object.hasOwn(binaryData, key))
      errors.push(invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'))
    size += Buffer.byteLength(data[key] as string)
  }
  for (const key in binaryData) {
    errors.push(...follows(key, `binaryData[${key}]`, configMapKey))
    size += base64Length(binaryData[key] as string)
  }
  if (size > maxDataBytes) errors.push(tooLong('', maxDataBytes))
  return errors.length === 0 ? valid : errors
}

export const configMaps = resource<ConfigMap>({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  shortNames: ['cm'],
  scope: 'Namespaced',
  validate: {
    object: rules,
    update: (map, old) =>
      old.immutable
        ? [
            ...(map.immutable ? valid : [forbiddenField('immutable', 'field is immutable when `immutable` is set')]),
            ...validateImmutableFields(map, old, ['data', 'binaryData']),
          ]
        : valid,
  },
  columns: [
    name,
    column('Data', ({ data = {}, binaryData = {} }) => Object.keys(data).length + Object.keys(binaryData).length, {
      description: 'The number of keys.',
    }),
    age,
  ],
})
