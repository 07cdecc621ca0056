/**
 * Rules for single fields, from which kinds compose their validation: each takes a value and its path and returns what is
 * wrong. A field that is absent is fine unless the rule's name says otherwise.
 */
import { semanticallyEqual } from './equality.ts'
import { duplicate, type FieldError, invalidValue, notSupported, required } from './field-error.ts'
import { type LabelSelector, labelSelectorOf } from './label-selector.ts'
import { portName, portNumber, type TextRule } from './names.ts'
import { compareQuantities } from './quantity.ts'

/** What is valid: shared, so that the common case allocates nothing. Not to be changed. */
export const valid: FieldError[] = []

/** The first rule that finds something decides. */
export function firstOf(...findings: readonly FieldError[][]): FieldError[] {
  for (const errors of findings) if (errors.length > 0) return errors
  return valid
}

export const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== ''

/** 0 or more. */
export const nonNegative = (value: number | undefined, path: string): FieldError[] =>
  value !== undefined && value !== null && value < 0 ? [invalidValue(path, value, 'must be greater than or equal to 0')] : valid

/** The field must be there and not be empty. */
export const requiredText = (value: string | undefined, path: string, detail?: string): FieldError[] => (value ? valid : [required(path, detail)])

/** One of a closed set of words; with `needed`, an absent one is refused as required. */
export function oneOf(value: string | undefined, path: string, words: readonly string[], needed?: 'needed'): FieldError[] {
  if (!isSet(value)) return needed ? [required(path)] : valid
  return words.includes(value as string) ? valid : [notSupported(path, value, words)]
}

/** A text that follows a rule of `names.ts`. */
export function text(value: string | undefined, path: string, rule: TextRule): FieldError[] {
  if (value === undefined || value === null) return valid
  const messages = rule(value)
  return messages.length === 0 ? valid : messages.map((message) => invalidValue(path, value, message))
}

/** As `text`, and the empty text counts as absent. */
export const optionalText = (value: string | undefined, path: string, rule: TextRule): FieldError[] => (value ? text(value, path, rule) : valid)

/** As `text`, and absent is refused. */
export const requiredRule = (value: string | undefined, path: string, rule: TextRule): FieldError[] => (value ? text(value, path, rule) : [required(path)])

/** A port's number. */
export const port = (value: number, path: string): FieldError[] => {
  const messages = portNumber(value)
  return messages.length === 0 ? valid : messages.map((message) => invalidValue(path, value, message))
}

/** A port's number or name. */
export const portOrName = (value: number | string | undefined, path: string): FieldError[] =>
  typeof value === 'string' ? text(value, path, portName) : port(value ?? 0, path)

/** What may not change once it is set. */
export const immutable = (value: unknown, old: unknown, path: string): FieldError[] =>
  semanticallyEqual(value, old) ? valid : [invalidValue(path, value, 'field is immutable')]

/** A quantity of 0 or more. */
export const nonNegativeQuantity = (value: string, path: string): FieldError[] =>
  compareQuantities(value, '0') < 0 ? [invalidValue(path, value, 'must be greater than or equal to 0')] : valid

/** A whole number of 0 or more, or a percentage. */
export function intOrPercent(value: number | string | undefined, path: string): FieldError[] {
  if (value === undefined || value === null) return valid
  if (typeof value === 'number') return nonNegative(value, path)
  return /^[0-9]+%$/.test(value) ? valid : [invalidValue(path, value, "must be an integer or percentage (e.g '5%%')")]
}

/** The number of a percentage; undefined for anything else. */
export const percentOf = (value: number | string | undefined): number | undefined =>
  typeof value === 'string' && /^[0-9]+%$/.test(value) ? Number(value.slice(0, -1)) : undefined

/** A percentage of at most 100. */
export const atMostAll = (value: number | string | undefined, path: string): FieldError[] =>
  (percentOf(value) ?? 0) > 100 ? [invalidValue(path, value, 'must not be greater than 100%')] : valid

/** Whether a LabelSelector has requirements. */
export const hasRequirements = (selector: LabelSelector | undefined): boolean =>
  selector !== undefined && (Object.keys(selector.matchLabels ?? {}).length > 0 || (selector.matchExpressions?.length ?? 0) > 0)

/** Whether a valid LabelSelector matches labels. */
export const selects = (selector: LabelSelector, labels: Readonly<Record<string, string>> | undefined): boolean => labelSelectorOf(selector).matches(labels)

/** Items whose key was seen before. */
export function unique<T>(items: readonly T[] | undefined, path: (i: number) => string, key: (item: T) => string | undefined): FieldError[] {
  const seen = new Set<string>()
  const errors: FieldError[] = []
  items?.forEach((item, i) => {
    const value = key(item)
    if (!value) return
    if (seen.has(value)) errors.push(duplicate(path(i), value))
    seen.add(value)
  })
  return errors
}
