/**
 * Validation of one version of a CustomResourceDefinition, except its schema: printer columns, selectable fields, paths
 * of `/scale`, deprecation.
 */
import type { V1CustomResourceColumnDefinition, V1CustomResourceSubresourceScale } from '@kubernetes/client-node'
import type { Wire } from '../../machinery/object.ts'
import { fieldPathTarget, type SchemaSource } from '../../machinery/structural-schema/index.ts'
import { duplicate, type FieldError, invalidValue, required, tooMany } from '../../machinery/validation/field-error.ts'
import { all } from '../../machinery/validation/field-rules.ts'
import type { DefinitionVersion } from './definition.ts'

const types = ['boolean', 'date', 'integer', 'number', 'string']
const formats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']
const maxSelectableFields = 8

/** Validates deprecationWarning: one printable line. */
export function deprecationRules(
  { deprecated, deprecationWarning: text }: DefinitionVersion,
  path: string,
): readonly FieldError[] {
  if (text === undefined || text === null) return []
  const warningError = (detail: string): FieldError => invalidValue(`${path}.deprecationWarning`, text, detail)
  if (!deprecated) return [warningError('can only be set for deprecated versions')]
  const faults: FieldError[] = []
  if (Buffer.byteLength(text) > 256) faults.push(warningError('must be <= 256 characters long'))
  if (text === '') faults.push(warningError('must not be an empty string'))
  const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(text)
  if (unprintable) {
    const at = Buffer.byteLength(text.slice(0, unprintable.index))
    faults.push(
      warningError(`must only contain printable UTF-8 characters; non-printable character found at index ${at}`),
    )
  }
  return faults
}

export function columnRules(
  { name, type, format, jsonPath }: Wire<V1CustomResourceColumnDefinition>,
  path: string,
): readonly FieldError[] {
  const oneOfTypes = `must be one of ${types.join(',')}`
  const errors = name ? [] : [required(`${path}.name`)]
  if (!type) errors.push(required(`${path}.type`, oneOfTypes))
  else if (!types.includes(type)) errors.push(invalidValue(`${path}.type`, type, oneOfTypes))
  if (format && !formats.includes(format))
    errors.push(invalidValue(`${path}.format`, format, `must be one of ${formats.join(',')}`))
  if (!jsonPath) errors.push(required(`${path}.JSONPath`))
  else errors.push(...simplePath(jsonPath, `${path}.JSONPath`))
  return errors
}

const simplePath = (value: string, path: string): readonly FieldError[] =>
  value.startsWith('.') ? [] : [invalidValue(path, value, 'must be a simple json path starting with .')]

export function scaleRules(
  { specReplicasPath, statusReplicasPath, labelSelectorPath }: Wire<V1CustomResourceSubresourceScale>,
  path: string,
): readonly FieldError[] {
  const under = (field: string, value: string, parents: readonly string[]): readonly FieldError[] => {
    const odd = simplePath(value, `${path}.${field}`)
    if (odd.length > 0 || parents.some((parent) => value.startsWith(`${parent}.`))) return odd
    return [
      invalidValue(
        `${path}.${field}`,
        value,
        `should be a json path under ${parents.length > 1 ? `either ${parents.join(' or ')}` : parents[0]}`,
      ),
    ]
  }
  return all(
    specReplicasPath ? under('specReplicasPath', specReplicasPath, ['.spec']) : [required(`${path}.specReplicasPath`)],
    statusReplicasPath
      ? under('statusReplicasPath', statusReplicasPath, ['.status'])
      : [required(`${path}.statusReplicasPath`)],
    labelSelectorPath ? under('labelSelectorPath', labelSelectorPath, ['.spec', '.status']) : [],
  )
}

/** Validates selectableFields (KEP-4358): at most eight scalars outside of metadata. */
export function selectableFieldRules(
  fields: DefinitionVersion['selectableFields'],
  schema: SchemaSource | undefined,
  path: string,
): readonly FieldError[] {
  if (!fields?.length) return []
  if (!schema)
    return [
      invalidValue(path, '', 'selectableFields may only be set when version.schema.openAPIV3Schema is not included'),
    ]
  const faults: FieldError[] = []
  const seen = new Set<string>()
  for (const [i, { jsonPath }] of fields.entries()) {
    const at = `${path}[${i}].jsonPath`
    if (!jsonPath) {
      faults.push(required(at))
      continue
    }
    const target = fieldPathTarget(jsonPath, schema, false)
    if (typeof target === 'string') {
      faults.push(invalidValue(at, jsonPath, `is an invalid path: ${target}`))
      continue
    }
    if (target.names[0] === 'metadata') faults.push(invalidValue(at, jsonPath, 'must not point to fields in metadata'))
    if (!['string', 'boolean', 'integer'].includes(target.schema.type ?? ''))
      faults.push(
        invalidValue(
          at,
          jsonPath,
          'must point to a field of type string, boolean or integer. Enum string fields and strings with formats ' +
            'are allowed.',
        ),
      )
    const name = JSON.stringify(target.names)
    if (seen.has(name)) faults.push(duplicate(at, jsonPath))
    seen.add(name)
  }
  return seen.size > maxSelectableFields ? [...faults, tooMany(path, seen.size, maxSelectableFields)] : faults
}
