/**
 * Rules for single fields, from which kinds compose their validation. Each takes a value and its path, and returns
 * field errors. An absent field is valid unless the rule's name says otherwise.
 */
import { semanticallyEqual } from '../equality.ts'
import { type LabelSelector, labelSelectorOf } from '../selectors/label-selector.ts'
import { compareQuantities } from '../values/quantity.ts'
import { type FieldError, invalidValue, notSupported, required } from './field-error.ts'
import type { ToInternal } from './internal-type.ts'
import { portName, portNumber, type TextRule } from './names.ts'

/** The result for a valid value. Shared, so that the common case allocates nothing. */
export const valid: readonly FieldError[] = []

/** Joins the errors of several rules in their order. */
export function all(...found: (readonly FieldError[])[]): readonly FieldError[] {
  let errors = valid
  let own: FieldError[] | undefined
  for (const some of found) {
    if (some.length === 0) continue
    if (errors.length === 0) errors = some
    else {
      errors = own ??= [...errors]
      for (const error of some) own.push(error)
    }
  }
  return errors
}

/** Applies a rule to each item of a list. */
export function each<T>(
  list: readonly T[] | undefined,
  path: string,
  rule: (item: T, path: string) => readonly FieldError[],
): readonly FieldError[] {
  if (!list?.length) return valid
  let errors: FieldError[] | undefined
  for (let i = 0; i < list.length; i++) {
    const found = rule(list[i] as T, `${path}[${i}]`)
    if (found.length > 0) (errors ??= []).push(...found)
  }
  return errors ?? valid
}

/** Returns a function that returns true for a value with which it was called before. */
export function duplicateFinder<T>(): (value: T) => boolean {
  const seen = new Set<T>()
  return (value) => {
    if (seen.has(value)) return true
    seen.add(value)
    return false
  }
}

const isAbsent = (value: unknown): value is undefined | null => value === undefined || value === null

/** Converts the messages of a TextRule to field errors. */
function toFieldErrors(messages: readonly string[], value: unknown, path: string): readonly FieldError[] {
  return messages.length === 0 ? valid : messages.map((message) => invalidValue(path, value, message))
}

/** 0 or more. */
export const nonNegative = (value: number | undefined, path: string): readonly FieldError[] =>
  !isAbsent(value) && value < 0 ? [invalidValue(path, value, 'must be greater than or equal to 0')] : valid

/** More than 0. */
export const positive = (value: number | undefined, path: string): readonly FieldError[] =>
  !isAbsent(value) && value <= 0 ? [invalidValue(path, value, 'must be greater than 0')] : valid

/** One of a closed set of words. With `needed`, an absent or empty value is an error. */
export function oneOf(
  value: string | undefined,
  path: string,
  words: readonly string[],
  needed?: 'needed',
): readonly FieldError[] {
  if (needed && !value) return [required(path)]
  return isAbsent(value) || words.includes(value) ? valid : [notSupported(path, value, words)]
}

/** A text that satisfies a rule of `names.ts`. */
export const follows = (value: string | undefined, path: string, rule: TextRule): readonly FieldError[] =>
  isAbsent(value) ? valid : toFieldErrors(rule(value), value, path)

/** The rule, except for values of the old object: values that an older release accepted may remain. */
export const exceptOldValues =
  (rule: TextRule, old: readonly string[] | undefined): TextRule =>
  (value) =>
    old?.includes(value) ? [] : rule(value)

/** Like `follows`; an empty text counts as absent. */
export const optionalText = (value: string | undefined, path: string, rule: TextRule): readonly FieldError[] =>
  value ? follows(value, path, rule) : valid

/** Like `follows`; an absent or empty text is an error. */
export const requiredRule = (value: string | undefined, path: string, rule: TextRule): readonly FieldError[] =>
  value ? follows(value, path, rule) : [required(path)]

/** A text that is not empty. */
export const requiredText = (value: string | undefined, path: string, detail?: string): readonly FieldError[] =>
  value ? valid : [required(path, detail)]

/** A port's number. */
export const port = (value: number, path: string): readonly FieldError[] =>
  toFieldErrors(portNumber(value), value, path)

/** A port's number or name. */
export const portOrName = (value: number | string | undefined, path: string): readonly FieldError[] =>
  typeof value === 'string' ? follows(value, path, portName) : port(value ?? 0, path)

/** A field that must not change. `show` converts the value to the form in messages. */
export const immutable = (value: unknown, path: string, old: unknown, show?: ToInternal): readonly FieldError[] =>
  semanticallyEqual(value, old) ? valid : [invalidValue(path, show ? show(value) : value, 'field is immutable')]

/** A quantity of 0 or more. */
export const nonNegativeQuantity = (value: string, path: string): readonly FieldError[] =>
  compareQuantities(value, '0') < 0 ? [invalidValue(path, value, 'must be greater than or equal to 0')] : valid

/** A whole number of 0 or more, or a percentage. */
export function intOrPercent(value: number | string | undefined, path: string): readonly FieldError[] {
  if (isAbsent(value)) return valid
  if (typeof value === 'number') return nonNegative(value, path)
  return percentOf(value) === undefined
    ? [invalidValue(path, value, "must be an integer or percentage (e.g '5%%')")]
    : valid
}

/** Returns the number of a percentage, or undefined for anything else. */
export const percentOf = (value: number | string | undefined): number | undefined =>
  typeof value === 'string' && /^[0-9]+%$/.test(value) ? Number(value.slice(0, -1)) : undefined

/** A percentage of at most 100. */
export const atMostAll = (value: number | string | undefined, path: string): readonly FieldError[] =>
  (percentOf(value) ?? 0) > 100 ? [invalidValue(path, value, 'must not be greater than 100%')] : valid

/** Returns true if a LabelSelector has requirements. */
export const hasRequirements = (selector: LabelSelector | undefined): boolean =>
  selector !== undefined &&
  (Object.keys(selector.matchLabels ?? {}).length > 0 || (selector.matchExpressions?.length ?? 0) > 0)

/** Returns true if a valid LabelSelector matches labels. */
export const selects = (selector: LabelSelector, labels: Readonly<Record<string, string>> | undefined): boolean =>
  labelSelectorOf(selector).matches(labels)
