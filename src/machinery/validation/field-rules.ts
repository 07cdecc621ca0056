/**
 * Rules for single fields, from which kinds compose their validation: each takes a value and its path and returns what
 * is wrong. A field that is absent is fine unless the rule's name says otherwise.
 */
import { semanticallyEqual } from '../equality.ts'
import { type LabelSelector, labelSelectorOf } from '../selectors/label-selector.ts'
import { compareQuantities } from '../values/quantity.ts'
import { type FieldError, invalidValue, notSupported, required } from './field-error.ts'
import type { Show } from './internal-type.ts'
import { portName, portNumber, type TextRule } from './names.ts'

/** What is valid: shared, so that the common case allocates nothing. */
export const valid: readonly FieldError[] = []

/** What several rules found, in their order. */
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

/** A rule for each item of a list. */
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

/** A function that says of each value given to it whether it was given before. */
export function repeats<T>(): (value: T) => boolean {
  const seen = new Set<T>()
  return (value) => {
    if (seen.has(value)) return true
    seen.add(value)
    return false
  }
}

const isAbsent = (value: unknown): value is undefined | null => value === undefined || value === null

/** What a rule for texts says of a value, as field errors. */
function told(messages: readonly string[], value: unknown, path: string): readonly FieldError[] {
  return messages.length === 0 ? valid : messages.map((message) => invalidValue(path, value, message))
}

/** 0 or more. */
export const nonNegative = (value: number | undefined, path: string): readonly FieldError[] =>
  !isAbsent(value) && value < 0 ? [invalidValue(path, value, 'must be greater than or equal to 0')] : valid

/** More than 0. */
export const positive = (value: number | undefined, path: string): readonly FieldError[] =>
  !isAbsent(value) && value <= 0 ? [invalidValue(path, value, 'must be greater than 0')] : valid

/** One of a closed set of words; with `needed`, an absent or empty one is refused as required. */
export function oneOf(
  value: string | undefined,
  path: string,
  words: readonly string[],
  needed?: 'needed',
): readonly FieldError[] {
  if (needed && !value) return [required(path)]
  return isAbsent(value) || words.includes(value) ? valid : [notSupported(path, value, words)]
}

/** A text that follows a rule of `names.ts`. */
export const follows = (value: string | undefined, path: string, rule: TextRule): readonly FieldError[] =>
  isAbsent(value) ? valid : told(rule(value), value, path)

/** The rule, but for values that the object had before: what an older release accepted may stay. */
export const unlessOld =
  (rule: TextRule, old: readonly string[] | undefined): TextRule =>
  (value) =>
    old?.includes(value) ? [] : rule(value)

/** As `follows`, and the empty text counts as absent. */
export const optionalText = (value: string | undefined, path: string, rule: TextRule): readonly FieldError[] =>
  value ? follows(value, path, rule) : valid

/** As `follows`, and what is absent or empty is refused as required. */
export const requiredRule = (value: string | undefined, path: string, rule: TextRule): readonly FieldError[] =>
  value ? follows(value, path, rule) : [required(path)]

/** The text must be there, whatever it says. */
export const requiredText = (value: string | undefined, path: string, detail?: string): readonly FieldError[] =>
  value ? valid : [required(path, detail)]

/** A port's number. */
export const port = (value: number, path: string): readonly FieldError[] => told(portNumber(value), value, path)

/** A port's number or name. */
export const portOrName = (value: number | string | undefined, path: string): readonly FieldError[] =>
  typeof value === 'string' ? follows(value, path, portName) : port(value ?? 0, path)

/** A field that may not change. `show`: the value as messages show it. */
export const immutable = (value: unknown, path: string, old: unknown, show?: Show): readonly FieldError[] =>
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

/** The number of a percentage; undefined for anything else. */
export const percentOf = (value: number | string | undefined): number | undefined =>
  typeof value === 'string' && /^[0-9]+%$/.test(value) ? Number(value.slice(0, -1)) : undefined

/** A percentage of at most 100. */
export const atMostAll = (value: number | string | undefined, path: string): readonly FieldError[] =>
  (percentOf(value) ?? 0) > 100 ? [invalidValue(path, value, 'must not be greater than 100%')] : valid

/** Whether a LabelSelector has requirements. */
export const hasRequirements = (selector: LabelSelector | undefined): boolean =>
  selector !== undefined &&
  (Object.keys(selector.matchLabels ?? {}).length > 0 || (selector.matchExpressions?.length ?? 0) > 0)

/** Whether a valid LabelSelector matches labels. */
export const selects = (selector: LabelSelector, labels: Readonly<Record<string, string>> | undefined): boolean =>
  labelSelectorOf(selector).matches(labels)
