/** Validation of requests and limits. */

import { own } from '../../../../../lib/own.ts'
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  required,
} from '../../../../../machinery/validation/field-error.ts'
import { all, valid } from '../../../../../machinery/validation/field-rules.ts'
import { compareQuantities, wholeValue } from '../../../../../machinery/values/quantity.ts'
import { isHugePages, isOvercommitAllowed, type ResourceList } from '../../../quota/resource-list.ts'
import { containerResourceName, plainNames, resourceAmount } from '../../../quota/resource-rules.ts'
import type { Resources } from '../../model.ts'
import { usedClaims } from '../resource-claims.ts'

type NameRule = (name: string, path: string) => readonly FieldError[]

function hugePages(name: string, amount: string, path: string): readonly FieldError[] {
  if (!isHugePages(name)) return valid
  const size = wholeValue(name.slice('hugepages-'.length))
  return size > 0n && wholeValue(amount) % size !== 0n
    ? [invalidValue(path, amount, `${amount} is not positive integer multiple of ${name}`)]
    : valid
}

/** Validates `resources` of a container; `claims` are the names of its pod's claims. */
export const resourceRequirements = (
  resources: Resources,
  path: string,
  claims: ReadonlySet<string>,
): readonly FieldError[] =>
  all(requirements(resources, path, containerResourceName), usedClaims(resources.claims, `${path}.claims`, claims))

/** Validates `limits` and `requests`, with a rule for their names. */
export function requirements(
  { limits = {}, requests = {} }: Resources,
  path: string,
  nameRule: NameRule,
): readonly FieldError[] {
  let errors = valid
  const found = (...more: (readonly FieldError[])[]): void => {
    errors = all(errors, ...more)
  }
  for (const name in limits) found(oneResource(name, limits[name] as string, `${path}.limits[${name}]`, nameRule))
  for (const name in requests) {
    const amount = requests[name] as string
    const at = `${path}.requests[${name}]`
    found(
      nameRule(name, at),
      resourceAmount(name, amount, at),
      validateLimit(name, amount, limits, path),
      hugePages(name, amount, at),
    )
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)]
  if (names.some(isHugePages) && !names.some((name) => plainNames.has(name)))
    found([forbiddenField(path, 'HugePages require cpu or memory')])
  return errors
}

const oneResource = (name: string, amount: string, path: string, nameRule: NameRule): readonly FieldError[] =>
  all(nameRule(name, path), resourceAmount(name, amount, path), hugePages(name, amount, path))

function validateLimit(name: string, amount: string, limits: ResourceList, path: string): readonly FieldError[] {
  const limit = own(limits, name)
  if (limit === undefined)
    return isOvercommitAllowed(name)
      ? valid
      : [required(`${path}.limits`, 'Limit must be set for non overcommitable resources')]
  const order = compareQuantities(amount, limit)
  if (order !== 0 && !isOvercommitAllowed(name))
    return [invalidValue(`${path}.requests`, amount, `must be equal to ${name} limit of ${limit}`)]
  return order > 0
    ? [invalidValue(`${path}.requests`, amount, `must be less than or equal to ${name} limit of ${limit}`)]
    : valid
}
