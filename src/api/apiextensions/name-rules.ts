/** Validation of the names of a custom resource, in `spec.names` and `status.acceptedNames`. */
import { type FieldError, fieldError, invalidValue, required } from '../../machinery/validation/field-error.ts'
import { each } from '../../machinery/validation/field-rules.ts'
import { dns1035Label, type TextRule } from '../../machinery/validation/names.ts'
import type { DefinitionNames } from './definition.ts'

/** Returns all messages of a rule as one error. */
export function joinedErrors(value: string, path: string, rule: TextRule, before = ''): readonly FieldError[] {
  const messages = rule(value)
  return messages.length === 0 ? [] : [invalidValue(path, value, before + messages.join(','))]
}

const kindRule: TextRule = (value) => dns1035Label(value.toLowerCase())
const mixedCase = 'may have mixed case, but should otherwise match: '

/** Requires the names that a definition must have. */
export function requiredNames(
  { plural, singular, kind, listKind }: DefinitionNames,
  path: string,
): readonly FieldError[] {
  const all = Object.entries({ plural, singular, kind, listKind })
  return all.flatMap(([name, value]) => (value ? [] : [required(`${path}.${name}`)]))
}

/** Validates the names that are set. */
export function nameRules(
  { plural, singular, shortNames, kind, listKind, categories }: DefinitionNames,
  path: string,
): readonly FieldError[] {
  const label = (text: string, at: string): readonly FieldError[] => joinedErrors(text, at, dns1035Label)
  return [
    ...(plural ? label(plural, `${path}.plural`) : []),
    ...(singular ? label(singular, `${path}.singular`) : []),
    ...(kind ? joinedErrors(kind, `${path}.kind`, kindRule, mixedCase) : []),
    ...(listKind ? joinedErrors(listKind, `${path}.listKind`, kindRule, mixedCase) : []),
    ...each(shortNames, `${path}.shortNames`, label),
    ...(kind && kind === listKind ? [sameKind(listKind, path)] : []),
    ...each(categories, `${path}.categories`, label),
  ]
}

const sameKind = (listKind: string, path: string): FieldError =>
  fieldError(
    'FieldValueInvalid',
    `${path}.listKind`,
    `Invalid value: ${JSON.stringify(listKind)}: kind and listKind may not be the same`,
  )
