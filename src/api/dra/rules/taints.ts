/** Validation of device taints and tolerations (KEP-5055), and of binding conditions (KEP-5007). */
import {
  duplicate,
  type FieldError,
  invalidValue,
  notSupported,
  required,
} from '../../../machinery/validation/field-error.ts'
import {
  all,
  duplicateFinder,
  each,
  follows,
  oneOf,
  optionalText,
  valid,
} from '../../../machinery/validation/field-rules.ts'
import { labelValue, qualifiedName } from '../../../machinery/validation/names.ts'
import { limitedList } from './lists.ts'

interface Toleration {
  readonly key?: string
  readonly operator?: string
  readonly value?: string
  readonly effect?: string
}

const effects = ['NoExecute', 'NoSchedule', 'None']

/** Validates a taint; an unchanged effect stays valid. */
export function deviceTaint(
  { key = '', value, effect }: Omit<Toleration, 'operator'>,
  path: string,
  oldEffect?: string,
): readonly FieldError[] {
  return all(
    follows(key, `${path}.key`, qualifiedName),
    optionalText(value, `${path}.value`, labelValue),
    effect && effect === oldEffect ? valid : oneOf(effect, `${path}.effect`, effects, 'needed'),
  )
}

/** Validates `tolerations` of a request or an allocation result. */
export const deviceTolerations = (list: readonly Toleration[] | undefined, path: string): readonly FieldError[] =>
  each(list, path, toleration)

function toleration({ key, operator, value = '', effect }: Toleration, path: string): readonly FieldError[] {
  return all(
    optionalText(key, `${path}.key`, qualifiedName),
    operatorRules(operator, value, path),
    effect && !effects.includes(effect) ? [notSupported(`${path}.effect`, effect, effects)] : valid,
  )
}

function operatorRules(operator: string | undefined, value: string, path: string): readonly FieldError[] {
  if (!operator) return [required(`${path}.operator`)]
  if (operator === 'Exists')
    return value ? [invalidValue(`${path}.value`, value, 'must be empty for operator `Exists`')] : valid
  return operator === 'Equal'
    ? follows(value, `${path}.value`, labelValue)
    : [notSupported(`${path}.operator`, operator, ['Equal', 'Exists'])]
}

interface Binding {
  readonly bindingConditions?: readonly string[]
  readonly bindingFailureConditions?: readonly string[]
}

const maxBindingConditions = 4

/** Validates binding conditions and binding failure conditions: both or neither. */
export function bindingConditions(device: Binding, path: string): readonly FieldError[] {
  const { bindingConditions: good = [], bindingFailureConditions: bad = [] } = device
  const [goodPath, badPath] = [`${path}.bindingConditions`, `${path}.bindingFailureConditions`]
  const named = (name: string, at: string): readonly FieldError[] => follows(name, at, qualifiedName)
  const isRepeated = duplicateFinder<string>()
  const isRepeatedBad = duplicateFinder<string>()
  return all(
    limitedList(good, maxBindingConditions, goodPath, named),
    limitedList(bad, maxBindingConditions, badPath, named),
    each(good, goodPath, (name, at) => (isRepeated(name) ? [duplicate(at, name)] : valid)),
    each(bad, badPath, (name, at) =>
      all(
        isRepeatedBad(name) ? [duplicate(at, name)] : valid,
        good.includes(name)
          ? [invalidValue(at, name, 'bindingFailureConditions must not overlap with bindingConditions')]
          : valid,
      ),
    ),
    good.length === 0 && bad.length > 0
      ? [
          invalidValue(
            goodPath,
            device.bindingConditions,
            'bindingConditions are required to use bindingFailureConditions',
          ),
        ]
      : valid,
    bad.length === 0 && good.length > 0
      ? [
          invalidValue(
            badPath,
            device.bindingFailureConditions,
            'bindingFailureConditions are required to use bindingConditions',
          ),
        ]
      : valid,
  )
}
