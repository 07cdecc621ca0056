/** Validation of a Job's podFailurePolicy. */
import type { V1JobSpec } from '@kubernetes/client-node'
import type { Wire } from '../../../machinery/object.ts'
import {
  duplicate,
  type FieldError,
  fieldError,
  invalidValue,
  notSupported,
  required,
  tooMany,
} from '../../../machinery/validation/field-error.ts'
import { all, follows, valid } from '../../../machinery/validation/field-rules.ts'
import { qualifiedName } from '../../../machinery/validation/names.ts'

export type JobSpec = Wire<V1JobSpec>
type Rule = NonNullable<JobSpec['podFailurePolicy']>['rules'][number]
type ExitCodes = NonNullable<Rule['onExitCodes']>

const maxRules = 20
const maxValues = 255
const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore']

const validateEnum = (value: string | undefined, path: string, words: readonly string[]): readonly FieldError[] =>
  !value
    ? [required(path, `valid values: [${words.map((one) => JSON.stringify(one)).join(' ')}]`)]
    : words.includes(value)
      ? valid
      : [notSupported(path, value, words)]

/** Validates podFailurePolicy. */
export function podFailurePolicy(spec: JobSpec, path: string): readonly FieldError[] {
  const rules = spec.podFailurePolicy?.rules
  if (!rules) return valid
  const pod = spec.template?.spec
  const containers = new Set([...(pod?.containers ?? []), ...(pod?.initContainers ?? [])].map(({ name }) => name))
  return all(
    rules.length > maxRules ? [tooMany(`${path}.rules`, rules.length, maxRules)] : valid,
    rules.flatMap((rule, i) => failureRule(rule, `${path}.rules[${i}]`, containers, spec)),
  )
}

function failureRule(
  rule: Rule,
  path: string,
  containers: ReadonlySet<string>,
  { backoffLimitPerIndex }: JobSpec,
): readonly FieldError[] {
  const { action, onExitCodes, onPodConditions = [] } = rule
  const errors = [...validateEnum(action, `${path}.action`, actions)]
  if (action === 'FailIndex' && backoffLimitPerIndex === undefined)
    errors.push(invalidValue(`${path}.action`, action, 'requires the backoffLimitPerIndex to be set'))
  if (onExitCodes) errors.push(...exitCodes(onExitCodes, `${path}.onExitCodes`, containers))
  if (onPodConditions.length > maxRules)
    errors.push(tooMany(`${path}.onPodConditions`, onPodConditions.length, maxRules))
  onPodConditions.forEach(({ type, status }, i) => {
    errors.push(
      ...follows(type, `${path}.onPodConditions[${i}].type`, qualifiedName),
      ...validateEnum(status, `${path}.onPodConditions[${i}].status`, ['False', 'True', 'Unknown']),
    )
  })
  if (onExitCodes && onPodConditions.length > 0)
    errors.push(invalidWithoutValue(path, 'specifying both OnExitCodes and OnPodConditions is not supported'))
  if (!onExitCodes && onPodConditions.length === 0)
    errors.push(invalidWithoutValue(path, 'specifying one of OnExitCodes and OnPodConditions is required'))
  return errors
}

/** Returns an invalid-value error that omits the value. */
const invalidWithoutValue = (path: string, detail: string): FieldError =>
  fieldError('FieldValueInvalid', path, `Invalid value: ${detail}`)

function exitCodes(
  { operator, containerName, values: given }: ExitCodes,
  path: string,
  containers: ReadonlySet<string>,
): readonly FieldError[] {
  const values = given ?? []
  const errors = [...validateEnum(operator, `${path}.operator`, ['In', 'NotIn'])]
  if (containerName !== undefined && !containers.has(containerName))
    errors.push(
      invalidValue(
        `${path}.containerName`,
        containerName,
        'must be one of the container or initContainer names in the pod template',
      ),
    )
  if (values.length === 0) errors.push(invalidValue(`${path}.values`, values, 'at least one value is required'))
  else if (values.length > maxValues) errors.push(tooMany(`${path}.values`, values.length, maxValues))
  const seen = new Set<number>()
  values.forEach((value, i) => {
    if (operator === 'In' && value === 0)
      errors.push(invalidValue(`${path}.values[${i}]`, 0, 'must not be 0 for the In operator'))
    if (seen.has(value)) errors.push(duplicate(`${path}.values[${i}]`, value))
    seen.add(value)
  })
  if (values.some((value, i) => i > 0 && value < (values[i - 1] as number)))
    errors.push(invalidValue(`${path}.values`, values, 'must be ordered'))
  return errors
}
