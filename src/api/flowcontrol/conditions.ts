/** Validates conditions of flow schemas and priority levels: each has a unique type. */
import { duplicate, type FieldError, required } from '../../machinery/validation/field-error.ts'
import { duplicateFinder, each } from '../../machinery/validation/field-rules.ts'

export function conditionRules(conditions: readonly { readonly type?: string }[] | undefined): readonly FieldError[] {
  const isRepeated = duplicateFinder<string>()
  return each(conditions, 'status.conditions', ({ type = '' }, path) => [
    ...(isRepeated(type) ? [duplicate(`${path}.type`, type)] : []),
    ...(type === '' ? [required(`${path}.type`)] : []),
  ])
}
