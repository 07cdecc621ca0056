/** Checks of values that programs pass, which no compiler may have seen. Each error names the option and the remedy. */
import { ExplainedError } from '../../lib/explained-error.ts'
import { nearestName } from './nearest-name.ts'

/** Throws an ExplainedError for a wrong value. `path` names the option: `storage.directory`. */
export type Check = (value: unknown, path: string) => void

/** The checks of all fields of a type: a field without one does not compile. */
export type FieldChecks<T> = { readonly [K in keyof Required<T>]: Check }

/** The error of a value: `the option port must be a whole number, not "x"`. */
export const wrong = (path: string, expected: string, value: unknown): ExplainedError =>
  new ExplainedError(
    value === undefined
      ? `the option ${path} is missing: it must be ${expected}`
      : `the option ${path} must be ${expected}, not ${shown(value)}`,
  )

const maxShown = 60

/** A short text of a value, without the contents of objects, which may be keys. */
function shown(value: unknown): string {
  if (typeof value === 'string') {
    const text = value.length > maxShown ? `${value.slice(0, maxShown)}…` : value
    return text.includes('PRIVATE KEY') ? 'a private key' : JSON.stringify(text)
  }
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) {
    const names = Object.keys(value)
    return names.length === 0 ? '{}' : `an object with ${names.slice(0, 5).join(', ')}`
  }
  return typeof value === 'function' ? 'a function' : String(value)
}

/** A value that passes `isRight`; `expected` describes it: `true or false`. */
export const satisfying =
  (expected: string, isRight: (value: unknown) => boolean): Check =>
  (value, path) => {
    if (!isRight(value)) throw wrong(path, expected, value)
  }

export const boolean = satisfying('true or false', (value) => typeof value === 'boolean')

export const callback = satisfying('a function', (value) => typeof value === 'function')

/** A text that is not empty; `expected` describes it: `a path`. */
export const text = (expected = 'a text that is not empty'): Check =>
  satisfying(expected, (value) => typeof value === 'string' && value.trim() !== '')

/** A whole number from `min` to `max`, both inclusive. */
export const wholeNumber = (min: number, max = Number.MAX_SAFE_INTEGER): Check =>
  satisfying(
    max === Number.MAX_SAFE_INTEGER ? `a whole number from ${min} on` : `a whole number from ${min} to ${max}`,
    (value) => Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max,
  )

export const oneOf = (...values: readonly string[]): Check =>
  satisfying(values.map((value) => JSON.stringify(value)).join(' or '), (value) => values.includes(String(value)))

/** A value that may be left out. */
export const optional =
  (check: Check): Check =>
  (value, path) => {
    if (value !== undefined) check(value, path)
  }

export const listOf =
  (check: Check): Check =>
  (value, path) => {
    if (!Array.isArray(value)) throw wrong(path, 'an array', value)
    for (const [index, item] of value.entries()) check(item, `${path}[${index}]`)
  }

/** An object with any names. */
export const mapOf =
  (check: Check): Check =>
  (value, path) => {
    if (!isObject(value)) throw wrong(path, 'an object', value)
    for (const [name, item] of Object.entries(value)) check(item, `${path}.${name}`)
  }

/** True for objects that are no arrays. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An object with these fields and no others. `path` is empty for the options themselves. */
export const fields =
  <T>(checks: FieldChecks<T>, expected = 'an object'): Check =>
  (value, path) => {
    if (!isObject(value)) throw path === '' ? optionsError(value) : wrong(path, expected, value)
    const known = Object.keys(checks)
    const unknown = Object.keys(value).find((name) => !known.includes(name))
    if (unknown !== undefined) throw unknownOption(path === '' ? unknown : `${path}.${unknown}`, unknown, known)
    for (const [name, check] of Object.entries<Check>(checks))
      check(value[name], path === '' ? name : `${path}.${name}`)
  }

const optionsError = (value: unknown): ExplainedError =>
  new ExplainedError(`the options must be an object, such as { nodes: 1 }, not ${shown(value)}`)

function unknownOption(path: string, name: string, known: readonly string[]): ExplainedError {
  const nearest = nearestName(name, known)
  const remedy = nearest === undefined ? `choose from ${known.join(', ')}` : `did you mean ${nearest}?`
  return new ExplainedError(`unknown option ${path}: ${remedy}`)
}
