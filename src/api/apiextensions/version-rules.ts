/** What is valid in one version of a CustomResourceDefinition: printer columns and paths of `/scale`. */

import type { V1CustomResourceColumnDefinition, V1CustomResourceDefinitionVersion, V1CustomResourceSubresourceScale } from '@kubernetes/client-node'
import type { Wire } from '../../machinery/object.ts'
import { type FieldError, invalidValue, required } from '../../machinery/validation/field-error.ts'
import { all, each } from '../../machinery/validation/field-rules.ts'

const types = ['boolean', 'date', 'integer', 'number', 'string']
const formats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']

/** `path` is where upstream sees the version: the spec itself, when there is only one. */
export const versionRules = ({ additionalPrinterColumns, subresources }: Wire<V1CustomResourceDefinitionVersion>, path: string): readonly FieldError[] =>
  all(
    each(additionalPrinterColumns, `${path}.additionalPrinterColumns`, columnRules),
    subresources?.scale ? scaleRules(subresources.scale, `${path}.subresources.scale`) : [],
  )

function columnRules({ name, type, format, jsonPath }: Wire<V1CustomResourceColumnDefinition>, path: string): readonly FieldError[] {
  const errors = name ? [] : [required(`${path}.name`)]
  if (!type) errors.push(required(`${path}.type`))
  else if (!types.includes(type)) errors.push(invalidValue(`${path}.type`, type, `must be one of ${types.join(',')}`))
  if (format && !formats.includes(format)) errors.push(invalidValue(`${path}.format`, format, `must be one of ${formats.join(',')}`))
  if (!jsonPath) errors.push(required(`${path}.JSONPath`))
  else if (!jsonPath.startsWith('.')) errors.push(invalidValue(`${path}.JSONPath`, jsonPath, 'must be a simple json path starting with .'))
  return errors
}

function scaleRules({ specReplicasPath, statusReplicasPath, labelSelectorPath }: Wire<V1CustomResourceSubresourceScale>, path: string): readonly FieldError[] {
  const under = (field: string, value: string, parents: readonly string[]): readonly FieldError[] => {
    if (parents.some((parent) => value.startsWith(`${parent}.`))) return []
    return [invalidValue(`${path}.${field}`, value, `should be a json path under ${parents.length > 1 ? `either ${parents.join(' or ')}` : parents[0]}`)]
  }
  return all(
    specReplicasPath ? under('specReplicasPath', specReplicasPath, ['.spec']) : [required(`${path}.specReplicasPath`)],
    statusReplicasPath ? under('statusReplicasPath', statusReplicasPath, ['.status']) : [required(`${path}.statusReplicasPath`)],
    labelSelectorPath ? under('labelSelectorPath', labelSelectorPath, ['.spec', '.status']) : [],
  )
}
