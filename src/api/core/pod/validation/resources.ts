/** Rules for what containers ask for and may use at most. */
import { type FieldError, forbiddenField, invalidValue, required } from '../../../../machinery/field-error.ts'
import { nonNegativeQuantity, text, valid } from '../../../../machinery/field-rules.ts'
import { qualifiedName } from '../../../../machinery/names.ts'
import { compareQuantities, milliValue, wholeValue } from '../../../../machinery/quantity.ts'
import {
  isContainerResource,
  isExtendedResource,
  isHugePages,
  isIntegerResource,
  isNativeResource,
  isOvercommitAllowed,
  isStandardResource,
  type ResourceList,
} from '../../resource-list.ts'
import type { Resources } from '../model.ts'

const plainNames = new Set(['cpu', 'memory'])

/** A resource's name, wherever it stands. */
export function resourceName(name: string, path: string): FieldError[] {
  const errors = text(name, path, qualifiedName)
  if (errors.length > 0) return errors
  return name.includes('/') || isStandardResource(name) ? valid : [invalidValue(path, name, 'must be a standard resource type or fully qualified')]
}

/** The name of a resource that containers use. */
export function containerResourceName(name: string, path: string): FieldError[] {
  if (plainNames.has(name)) return valid
  const errors = [...resourceName(name, path)]
  if (!name.includes('/')) {
    if (!isContainerResource(name)) errors.push(invalidValue(path, name, 'must be a standard resource for containers'))
  } else if (!isNativeResource(name) && !isExtendedResource(name)) errors.push(invalidValue(path, name, "doesn't follow extended resource name standard"))
  return errors
}

/** An amount of a resource: 0 or more, and whole where the resource is counted. */
export function resourceAmount(name: string, amount: string, path: string): FieldError[] {
  const errors = nonNegativeQuantity(amount, path)
  return isIntegerResource(name) && milliValue(amount) % 1000n !== 0n ? [...errors, invalidValue(path, amount, 'must be an integer')] : errors
}

function hugePages(name: string, amount: string, path: string): FieldError[] {
  if (!isHugePages(name)) return valid
  const size = wholeValue(name.slice('hugepages-'.length))
  return size > 0n && wholeValue(amount) % size !== 0n ? [invalidValue(path, amount, `${amount} is not positive integer multiple of ${name}`)] : valid
}

/** `limits` and `requests` of a container. */
export function resourceRequirements({ limits = {}, requests = {} }: Resources, path: string): FieldError[] {
  let errors: FieldError[] = valid
  const found = (more: FieldError[]): void => {
    if (more.length > 0) errors = [...errors, ...more]
  }
  for (const name in limits) found(oneResource(name, limits[name] as string, `${path}.limits[${name}]`))
  for (const name in requests) {
    const amount = requests[name] as string
    const at = `${path}.requests[${name}]`
    found(containerResourceName(name, at))
    found(resourceAmount(name, amount, at))
    found(againstLimit(name, amount, limits, path))
    found(hugePages(name, amount, at))
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)]
  if (names.some(isHugePages) && !names.some((name) => plainNames.has(name))) found([forbiddenField(path, 'HugePages require cpu or memory')])
  return errors
}

const oneResource = (name: string, amount: string, path: string): FieldError[] => {
  const errors = [containerResourceName(name, path), resourceAmount(name, amount, path), hugePages(name, amount, path)].filter((found) => found.length > 0)
  return errors.length === 0 ? valid : errors.flat()
}

function againstLimit(name: string, amount: string, limits: ResourceList, path: string): FieldError[] {
  const limit = limits[name]
  if (limit === undefined) return isOvercommitAllowed(name) ? valid : [required(`${path}.limits`, 'Limit must be set for non overcommitable resources')]
  const order = compareQuantities(amount, limit)
  if (order !== 0 && !isOvercommitAllowed(name)) return [invalidValue(`${path}.requests`, amount, `must be equal to ${name} limit of ${limit}`)]
  return order > 0 ? [invalidValue(`${path}.requests`, amount, `must be less than or equal to ${name} limit of ${limit}`)] : valid
}
