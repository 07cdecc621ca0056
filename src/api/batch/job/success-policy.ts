/** Validation of successPolicy: an indexed Job may succeed before all its indexes have. */

import { type FieldError, invalidValue, required, tooLong, tooMany } from '../../../machinery/validation/field-error.ts'
import { all, each, nonNegative, valid } from '../../../machinery/validation/field-rules.ts'
import { list, optional, pointer } from '../../../machinery/validation/internal-type.ts'
import type { JobSpec } from './failure-policy.ts'
import { countOf, parseIndexes } from './indexes.ts'

type Rule = NonNullable<JobSpec['successPolicy']>['rules'][number]

const maxRules = 20
const maxIndexBytes = 64 * 1024

export const shownSuccessPolicy = pointer({ Rules: list({ SucceededIndexes: optional, SucceededCount: optional }) })

/** Validates successPolicy. */
export function successPolicy(
  { successPolicy: policy, completionMode, completions = 0 }: JobSpec,
  path: string,
): readonly FieldError[] {
  if (!policy) return valid
  if (completionMode !== 'Indexed')
    return [invalidValue(path, shownSuccessPolicy(policy), 'requires indexed completion mode')]
  const rules = policy.rules ?? []
  return all(
    rules.length === 0
      ? [required(`${path}.rules`, 'at least one rules must be specified when the successPolicy is specified')]
      : valid,
    rules.length > maxRules ? [tooMany(`${path}.rules`, rules.length, maxRules)] : valid,
    each(rules, `${path}.rules`, (rule, at) => successRule(rule, at, completions)),
  )
}

function successRule(
  { succeededIndexes: indexes, succeededCount: count }: Rule,
  path: string,
  completions: number,
): readonly FieldError[] {
  const errors: FieldError[] = []
  if (indexes === undefined && count === undefined)
    errors.push(required(path, 'at least one of succeededCount or succeededIndexes must be specified'))
  let named = 0
  if (indexes !== undefined) {
    if (Buffer.byteLength(indexes) > maxIndexBytes) errors.push(tooLong(`${path}.succeededIndexes`, maxIndexBytes))
    const read = parseIndexes(indexes, completions)
    if (typeof read === 'string')
      errors.push(invalidValue(`${path}.succeededIndexes`, indexes, `error parsing succeededIndexes: ${read}`))
    else named = countOf(read)
  }
  if (count !== undefined) {
    const at = `${path}.succeededCount`
    errors.push(...nonNegative(count, at))
    if (count > completions)
      errors.push(
        invalidValue(at, count, `must be less than or equal to ${completions} (the number of specified completions)`),
      )
    if (indexes !== undefined && count > named)
      errors.push(
        invalidValue(
          at,
          count,
          `must be less than or equal to ${named} (the number of indexes in the specified succeededIndexes field)`,
        ),
      )
  }
  return errors
}
