/** Validation of device capacities that several requests share (KEP-5075). */
import type { V1CapacityRequestPolicy, V1CapacityRequestPolicyRange, V1DeviceCapacity } from '@kubernetes/client-node'
import type { Wire } from '../../../machinery/object.ts'
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalidValue,
  required,
  tooMany,
} from '../../../machinery/validation/field-error.ts'
import { all, duplicateFinder, each, valid } from '../../../machinery/validation/field-rules.ts'
import { addQuantities, compareQuantities, signOf, wholeValue } from '../../../machinery/values/quantity.ts'

type Policy = Wire<V1CapacityRequestPolicy> & { readonly default?: string }
type Range = Wire<V1CapacityRequestPolicyRange>

const maxValues = 10
const isGreater = (a: string, b: string): boolean => compareQuantities(a, b) > 0

/** Validates a capacity. Only devices with allowMultipleAllocations may have a requestPolicy. */
export function deviceCapacity(
  { value, requestPolicy }: Wire<V1DeviceCapacity>,
  path: string,
  isShared: boolean,
): readonly FieldError[] {
  if (!requestPolicy) return valid
  const at = `${path}.requestPolicy`
  return isShared
    ? policyRules(requestPolicy as Policy, value, at)
    : [forbiddenField(at, 'allowMultipleAllocations must be true')]
}

function policyRules(
  { default: usual, validValues: values, validRange: range }: Policy,
  capacity: string,
  path: string,
): readonly FieldError[] {
  const field = values?.length ? 'validValues' : 'validRange'
  if (values?.length && range)
    return [
      forbiddenField(
        path,
        'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time',
      ),
    ]
  if (!values?.length && !range) return valid
  if (usual === undefined) return [required(`${path}.default`, `required when ${field} is defined`)]
  if (range) return rangeRules(range, usual, capacity, `${path}.${field}`)
  return valueRules(values ?? [], usual, capacity, `${path}.${field}`)
}

function valueRules(values: readonly string[], usual: string, capacity: string, path: string): readonly FieldError[] {
  const notSorted = each(values, path, (value, at) => {
    const before = values[Number(at.slice(path.length + 1, -1)) - 1]
    return before !== undefined && isGreater(before, value)
      ? [invalidValue(at, value, 'values must be sorted in ascending order')]
      : valid
  })
  const notUsual = invalidValue(path, usual, 'default value is not valid according to the requestPolicy')
  // Upstream skips lists that are too long, so the default is not found either.
  if (values.length > maxValues) return [...notSorted, tooMany(path, values.length, maxValues), notUsual]
  const isRepeated = duplicateFinder<bigint>()
  return all(
    notSorted,
    each(values, path, (value, at) =>
      isGreater(value, capacity)
        ? [invalidValue(at, value, `option is larger than capacity value: ${capacity}`)]
        : valid,
    ),
    // Compared as whole numbers, as upstream does.
    each(values, path, (value, at) =>
      isRepeated(wholeValue(value)) ? [duplicate(at, `${wholeValue(value)}`)] : valid,
    ),
    values.some((value) => compareQuantities(value, usual) === 0) ? valid : [notUsual],
  )
}

function rangeRules({ min, max, step }: Range, usual: string, capacity: string, path: string): readonly FieldError[] {
  if (min === undefined) return [required(`${path}.min`, 'required when validRange is defined')]
  const errors: FieldError[] = []
  if (isGreater(min, capacity))
    errors.push(invalidValue(`${path}.min`, min, `min is larger than capacity value: ${capacity}`))
  if (isGreater(min, usual)) errors.push(invalidValue(`${path}.default`, usual, `default is less than min: ${min}`))
  if (max !== undefined) {
    if (isGreater(min, max)) errors.push(invalidValue(`${path}.max`, min, `min is larger than max: ${max}`))
    if (isGreater(max, capacity))
      errors.push(invalidValue(`${path}.max`, max, `max is larger than capacity value: ${capacity}`))
    if (isGreater(usual, max)) errors.push(invalidValue(`${path}.default`, usual, `default is more than max: ${max}`))
  }
  return step === undefined ? errors : [...errors, ...stepRules({ min, max, step }, usual, capacity, path)]
}

function stepRules(
  { min, max, step }: Range & { step: string },
  usual: string,
  capacity: string,
  path: string,
): readonly FieldError[] {
  if (signOf(step) <= 0) return [invalidValue(`${path}.step`, step, 'must be greater than zero')]
  const first = addQuantities(min, step)
  const errors = isGreater(first, capacity)
    ? [invalidValue(`${path}.step`, step, `one step ${first} is larger than capacity value: ${capacity}`)]
    : []
  for (const value of [usual, ...(max === undefined ? [] : [max])])
    if ((wholeValue(value) - wholeValue(min)) % wholeValue(step) !== 0n)
      errors.push(
        invalidValue(`${path}.step`, value, `value is not a multiple of a given step (${step}) from (${min})`),
      )
  return errors
}
