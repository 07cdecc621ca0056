/** Validation of restart policies of containers (KEP-5307) and of resize policies (KEP-1287). */
import {
  duplicate,
  type FieldError,
  invalidValue,
  notSupported,
  required,
  tooMany,
} from '../../../../../machinery/validation/field-error.ts'
import { all, duplicateFinder, each, oneOf, valid } from '../../../../../machinery/validation/field-rules.ts'
import type { Container } from '../../model.ts'

type ResizePolicy = NonNullable<Container['resizePolicy']>[number]
type RestartRule = NonNullable<Container['restartPolicyRules']>[number]

const policies = ['Always', 'Never', 'OnFailure']
const maxRules = 20
const maxExitCodes = 255

/** Validates `restartPolicy` and `restartPolicyRules` of a container. */
export function containerRestarts(
  { restartPolicy, restartPolicyRules: rules }: Container,
  path: string,
): readonly FieldError[] {
  if (restartPolicy === undefined && !rules?.length) return valid
  return all(
    oneOf(restartPolicy, `${path}.restartPolicy`, policies),
    rules?.length && restartPolicy === undefined
      ? [required(`${path}.restartPolicy`, 'must specify restartPolicy when restart rules are used')]
      : valid,
    rules && rules.length > maxRules ? [tooMany(`${path}.restartPolicyRules`, rules.length, maxRules)] : valid,
    each(rules, `${path}.restartPolicyRules`, restartRule),
  )
}

const restartRule = ({ action, exitCodes }: RestartRule, path: string): readonly FieldError[] =>
  all(
    oneOf(action ?? '', `${path}.action`, ['Restart', 'RestartAllContainers']),
    exitCodes
      ? all(
          oneOf(exitCodes.operator ?? '', `${path}.exitCodes.operator`, ['In', 'NotIn']),
          exitCodes.values && exitCodes.values.length > maxExitCodes
            ? [tooMany(`${path}.exitCodes.values`, exitCodes.values.length, maxExitCodes)]
            : valid,
        )
      : [required(`${path}.exitCodes`, 'must be specified')],
  )

/** Validates `resizePolicy` of a container. Upstream's paths omit the index. */
export function resizePolicies(
  list: readonly ResizePolicy[] | undefined,
  path: string,
  podRestartPolicy: string | undefined,
): readonly FieldError[] {
  if (!list?.length) return valid
  const isRepeated = duplicateFinder<string>()
  return each(list, path, ({ resourceName, restartPolicy }, at) =>
    all(
      isRepeated(resourceName) ? [duplicate(at, resourceName)] : valid,
      validateEnum(resourceName, path, ['cpu', 'memory']),
      validateEnum(restartPolicy, path, ['NotRequired', 'RestartContainer']),
      podRestartPolicy === 'Never' && restartPolicy !== 'NotRequired'
        ? [invalidValue(path, restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'")]
        : valid,
    ),
  )
}

const validateEnum = (value: string, path: string, words: readonly string[]): readonly FieldError[] =>
  !value ? [required(path)] : words.includes(value) ? valid : [notSupported(path, value, words)]
