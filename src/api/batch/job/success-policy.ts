/** Rules for when an indexed Job has succeeded before all of its indexes have (KEP-3998). */
import { type FieldError, invalidValue, required, tooLong, tooMany } from '../../../machinery/validation/field-error.ts'
import { all, each, nonNegative, valid } from '../../../machinery/validation/field-rules.ts'
import type { JobSpec } from './failure-policy.ts'

type Rule = NonNullable<JobSpec['successPolicy']>['rules'][number]

const maxRules = 20
const maxIndexesBytes = 64 * 1024

/** `successPolicy`. */
export function successPolicy({ successPolicy: policy, completionMode, completions = 0 }: JobSpec, path: string): readonly FieldError[] {
  if (!policy) return valid
  if (completionMode !== 'Indexed') return [invalidValue(path, policy, 'requires indexed completion mode')]
  const rules = policy.rules ?? []
  return all(
    rules.length === 0 ? [required(`${path}.rules`, 'at least one rules must be specified when the successPolicy is specified')] : valid,
    rules.length > maxRules ? [tooMany(`${path}.rules`, rules.length, maxRules)] : valid,
    each(rules, `${path}.rules`, (rule, at) => successRule(rule, at, completions)),
  )
}

function successRule({ succeededIndexes: indexes, succeededCount: count }: Rule, path: string, completions: number): readonly FieldError[] {
  const errors: FieldError[] = []
  if (indexes === undefined && count === undefined) errors.push(required(path, 'at least one of succeededCount or succeededIndexes must be specified'))
  let total = 0
  if (indexes !== undefined) {
    if (Buffer.byteLength(indexes) > maxIndexesBytes) errors.push(tooLong(`${path}.succeededIndexes`, maxIndexesBytes))
    const read = countIndexes(indexes, completions)
    if (typeof read === 'number') total = read
    else errors.push(invalidValue(`${path}.succeededIndexes`, indexes, `error parsing succeededIndexes: ${read}`))
  }
  if (count === undefined) return errors
  const at = `${path}.succeededCount`
  return all(
    errors,
    nonNegative(count, at),
    count > completions ? [invalidValue(at, count, `must be less than or equal to ${completions} (the number of specified completions)`)] : valid,
    indexes !== undefined && count > total
      ? [invalidValue(at, count, `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`)]
      : valid,
  )
}

/** How many indexes a text such as `1,3-5` names, or what is wrong with it. */
function countIndexes(text: string, completions: number): number | string {
  if (text === '') return 0
  let last: number | undefined
  let total = 0
  for (const interval of text.split(',')) {
    const limits = interval.split('-')
    if (limits.length > 2)
      return `the fragment ${JSON.stringify(interval)} violates the requirement that an index interval can have at most two parts separated by '-'`
    for (const limit of limits) {
      if (!/^[+-]?\d+$/.test(limit)) return `cannot convert string to integer for index: ${JSON.stringify(limit)}`
      if (Number(limit) >= completions) return `too large index: ${JSON.stringify(limit)}`
    }
    const first = Number(limits[0])
    const end = Number(limits.at(-1))
    if (limits.length === 2 && first >= end) return `non-increasing order, previous: ${first}, current: ${end}`
    if (last !== undefined && last >= first) return `non-increasing order, previous: ${last}, current: ${first}`
    total += end - first + 1
    last = end
  }
  return total
}
