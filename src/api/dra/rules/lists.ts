/** Validation of lists and maps with a maximum size. Items of longer ones are not validated. */
import { duplicate, type FieldError, tooMany } from '../../../machinery/validation/field-error.ts'
import { all, duplicateFinder, each } from '../../../machinery/validation/field-rules.ts'

type Rule<T> = (item: T, path: string) => readonly FieldError[]

/** Validates each item of a list of at most `max` items. */
export const limitedList = <T>(
  list: readonly T[] | undefined,
  max: number,
  path: string,
  rule: Rule<T>,
): readonly FieldError[] => (list && list.length > max ? [tooMany(path, list.length, max)] : each(list, path, rule))

/** Like `limitedList`, and rejects items with the same key. */
export function limitedSet<T>(
  list: readonly T[] | undefined,
  max: number,
  path: string,
  rule: Rule<T>,
  key: (item: T) => unknown,
): readonly FieldError[] {
  if (list && list.length > max) return [tooMany(path, list.length, max)]
  const isRepeated = duplicateFinder<string>()
  return all(
    each(list, path, rule),
    each(list, path, (item, at) => (isRepeated(JSON.stringify(key(item))) ? [duplicate(at, key(item))] : [])),
  )
}

/** Validates keys and values of a map of at most `max` entries. Errors of keys have the path of the map. */
export function limitedMap<T>(
  map: Readonly<Record<string, T>> | undefined,
  max: number,
  path: string,
  keyRule: Rule<string>,
  rule: Rule<T>,
): readonly FieldError[] {
  const entries = Object.entries(map ?? {})
  if (entries.length > max) return [tooMany(path, entries.length, max)]
  return entries.flatMap(([key, value]) => all(keyRule(key, path), rule(value, `${path}[${shortened(key)}]`)))
}

const longestKey = 63 + 1 + 32

/** Shortens long keys in the middle. */
const shortened = (key: string): string => (key.length <= longestKey ? key : `${key.slice(0, 47)}...${key.slice(-46)}`)
