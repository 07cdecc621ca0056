/** Validation of the conditions of a status (`metav1.Condition`). */
import { duplicate, type FieldError, invalidValue, notSupported, required, tooLong } from './field-error.ts'
import { all, duplicateFinder, each, follows, valid } from './field-rules.ts'
import { qualifiedName } from './names.ts'

export interface Condition {
  readonly type?: string
  readonly status?: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string | null
  readonly observedGeneration?: number
}

const maxReasonBytes = 1024
const maxMessageBytes = 32 * 1024
const reasonPattern = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/
const reasonWords =
  'a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric ' +
  "characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or " +
  "'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is " +
  "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"

/** Validates the conditions, and that each type occurs once. */
export function validateConditions(conditions: readonly Condition[] | undefined, path: string): readonly FieldError[] {
  const isRepeated = duplicateFinder<string>()
  return each(conditions, path, (condition, at) =>
    all(
      isRepeated(condition.type ?? '') ? [duplicate(`${at}.type`, condition.type ?? '')] : valid,
      conditionRules(condition, at),
    ),
  )
}

const conditionRules = (condition: Condition, path: string): readonly FieldError[] => {
  const { type = '', status = '', reason = '', message = '', lastTransitionTime, observedGeneration = 0 } = condition
  return all(
    follows(type, `${path}.type`, qualifiedName),
    ['False', 'True', 'Unknown'].includes(status)
      ? valid
      : [notSupported(`${path}.status`, status, ['False', 'True', 'Unknown'])],
    observedGeneration < 0
      ? [invalidValue(`${path}.observedGeneration`, observedGeneration, 'must be greater than or equal to zero')]
      : valid,
    lastTransitionTime ? valid : [required(`${path}.lastTransitionTime`, 'must be set')],
    reason ? valid : [required(`${path}.reason`, 'must be set')],
    reason && !reasonPattern.test(reason) ? [invalidValue(`${path}.reason`, reason, reasonWords)] : valid,
    Buffer.byteLength(reason) > maxReasonBytes ? [tooLong(`${path}.reason`, maxReasonBytes)] : valid,
    Buffer.byteLength(message) > maxMessageBytes ? [tooLong(`${path}.message`, maxMessageBytes)] : valid,
  )
}
