/** Validation of resource names and amounts, shared by pods, nodes, volumes, limits and quotas. */

import { type FieldError, invalidValue } from '../../../machinery/validation/field-error.ts'
import { follows, nonNegativeQuantity, valid } from '../../../machinery/validation/field-rules.ts'
import { qualifiedName } from '../../../machinery/validation/names.ts'
import { milliValue } from '../../../machinery/values/quantity.ts'
import {
  isContainerResource,
  isExtendedResource,
  isIntegerResource,
  isNativeResource,
  isStandardResource,
} from './resource-list.ts'

/** Resources that every container may request. */
export const plainNames: ReadonlySet<string> = new Set(['cpu', 'memory'])

/** Validates a resource name. */
export function resourceName(name: string, path: string): readonly FieldError[] {
  const errors = follows(name, path, qualifiedName)
  if (errors.length > 0) return errors
  return name.includes('/') || isStandardResource(name)
    ? valid
    : [invalidValue(path, name, 'must be a standard resource type or fully qualified')]
}

/** Validates a resource name of a container. */
export function containerResourceName(name: string, path: string): readonly FieldError[] {
  if (plainNames.has(name)) return valid
  const errors = [...resourceName(name, path)]
  if (!name.includes('/')) {
    if (!isContainerResource(name)) errors.push(invalidValue(path, name, 'must be a standard resource for containers'))
  } else if (!isNativeResource(name) && !isExtendedResource(name))
    errors.push(invalidValue(path, name, "doesn't follow extended resource name standard"))
  return errors
}

/** Validates an amount: at least 0, and an integer for countable resources. */
export function resourceAmount(name: string, amount: string, path: string): readonly FieldError[] {
  const errors = nonNegativeQuantity(amount, path)
  return isIntegerResource(name) && milliValue(amount) % 1000n !== 0n
    ? [...errors, invalidValue(path, amount, 'must be an integer')]
    : errors
}
