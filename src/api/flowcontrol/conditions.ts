/** What the conditions of flow schemas and priority levels have to be: each of a type, and each type once. */
import { duplicate, type FieldError, required } from '../../machinery/validation/field-error.ts'
import { duplicateFinder, each } from '../../machinery/validation/field-rules.ts'

export function conditionRules(conditions: readonly { readonly type?: string }[] | undefined): readonly FieldError[] {
  const isRepeated = duplicateFinder<string>()
  return each(conditions, 'status.conditions', ({ type = '' }, path) => [
    ...(isRepeated(type) ? [duplicate(`${path}.type`, type)] : []),
    ...(type === '' ? [required(`${path}.type`)] : []),
  ])
}
