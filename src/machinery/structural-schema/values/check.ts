/** Validates values against schemas with kube-openapi's order, messages and quirks. */
import { isObject, type JsonObject, jsonEqual } from '../../fields/json.ts'
import { correlatedItems, isUnchanged, none } from './correlation.ts'
import { Findings, goNumber } from './findings.ts'
import { bits, typeName, type Validator, validatorOf } from './validator.ts'

/**
 * Adds the errors of a value to `found`. `old` is the old value, or `none`: errors of unchanged values are dropped
 * (KEP-4008).
 */
export function check(value: unknown, validator: Validator, path: string, old: unknown, found: Findings): void {
  const before = found.list.length
  checkValue(value, validator, path, old, found)
  if (found.list.length > before && old !== none && isUnchanged(value, old, validator.schema))
    found.list.length = before
}

function checkValue(value: unknown, validator: Validator, path: string, old: unknown, found: Findings): void {
  if (value === null || value === undefined) {
    if (validator.types !== 0 && !validator.nullable) found.mistyped(path, validator.typeText, 'null')
    else found.matches++
    if (validator.enum) found.notIn(path, null, validator.enum)
    return
  }
  const type = typeOf(value)
  // Upstream counts all validators that apply, also those that fail.
  found.matches += 4
  if (validator.types !== 0 || validator.format !== '') {
    found.matches++
    checkType(value, type, validator, path, found)
  }
  if (validator.plain && type !== bits.object && type !== bits.array && (type !== bits.number || !validator.checkRange))
    return
  if (validator.joins) checkJunctors(value, validator, path, old, found)
  if (typeof value === 'string') checkText(value, validator, path, found)
  else if (typeof value === 'number' || typeof value === 'bigint') checkNumber(value, validator, path, found)
  else if (Array.isArray(value)) checkItems(value, validator, path, old, found)
  if (validator.enum && !validator.enum.some((it) => it !== null && jsonEqual(it, value)))
    found.notIn(path, value, validator.enum)
  if (isObject(value)) checkObject(value, validator, path, old, found)
}

function typeOf(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return bits.string
    case 'number':
      return isWhole(value) ? bits.integer : bits.number
    case 'bigint':
      return bits.integer
    case 'boolean':
      return bits.boolean
    default:
      return Array.isArray(value) ? bits.array : bits.object
  }
}

/** Go's name of a number's type, for the error of a format on a value that is not a string. */
const goFormat = (type: number): string => (type === bits.integer ? 'int64' : type === bits.number ? 'float64' : '')

function checkType(
  value: unknown,
  type: number,
  { types, typeText, format }: Validator,
  path: string,
  found: Findings,
): void {
  const numeric = (types & (bits.integer | bits.number)) !== 0
  const fits = (types & type) !== 0 || (type === bits.integer && (types & bits.number) !== 0)
  if (format !== '') {
    const listOrText = typeof value === 'string' || Array.isArray(value)
    if (!listOrText && !fits) {
      found.mistyped(path, format, goFormat(type))
      return
    }
    // The format check validates strings later; lists have no further check.
    if (listOrText && !numeric) {
      found.matches++
      return
    }
  }
  if (fits || types === 0) found.matches++
  else found.mistyped(path, typeText, typeName(type))
}

function checkText(text: string, validator: Validator, path: string, found: Findings): void {
  found.matches++
  const { maxLength, minLength, patternText, checkFormat, format } = validator
  const long = maxLength !== undefined && text.length > maxLength && codePoints(text) > maxLength
  if (long) found.longer(path, maxLength)
  else if (minLength !== undefined && codePoints(text) < minLength)
    found.invalid(path, text, `should be at least ${minLength} chars long`)
  else if (patternText !== '') {
    const matches = validator.matches(text)
    if (matches instanceof Error)
      found.invalid(path, text, `should match '${patternText}, but pattern is invalid: ${matches.message}'`)
    else if (!matches) found.invalid(path, text, `should match '${patternText}'`)
  }
  if (!checkFormat) return
  found.matches++
  if (!checkFormat(text)) found.mistyped(path, format, text)
}

function codePoints(text: string): number {
  let count = text.length
  for (let i = 0; i < text.length - 1; i++)
    if ((text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) count--
  return count
}

/** Returns true if the value is whole to a billionth, which upstream accepts as an integer. */
function isWhole(value: number): boolean {
  if (Number.isInteger(value)) return Number.isSafeInteger(value)
  const size = Math.abs(value)
  const whole = Math.trunc(size)
  return size > 1 && size < 2 ** 53 && (size - whole) / (size + whole) < 1e-9
}

/** Converts a bound to an integer that messages print with all digits. */
const wholeNumber = (value: number): number | bigint => (Number.isSafeInteger(value) ? value : BigInt(value))

function checkNumber(value: number | bigint, validator: Validator, path: string, found: Findings): void {
  found.matches += 2
  const { multipleOf, minimum, maximum, exclusiveMinimum, exclusiveMaximum, checkRange, typeText, format } = validator
  const isWithin = (it: number | bigint, what: string): boolean => {
    const fits = checkRange?.(it) ?? true
    if (!fits) found.outOfRange(path, what, typeText, format)
    return fits
  }
  // Integers are compared with truncated bounds if the format can represent the bounds.
  const isInteger = typeof value === 'bigint' || Number.isSafeInteger(value)
  const bound = (it: number, what: string): number | bigint =>
    isWithin(it, what) && isInteger ? wholeNumber(Math.trunc(it)) : it
  isWithin(value, 'Checked')
  if (multipleOf !== undefined) {
    isWithin(multipleOf, 'MultipleOf')
    checkMultiple(value, multipleOf, path, found)
  }
  if (minimum !== undefined) {
    const least = bound(minimum, 'Minimum boundary')
    if (exclusiveMinimum ? value <= least : value < least)
      found.invalid(path, value, `should be greater than ${exclusiveMinimum ? '' : 'or equal to '}${goNumber(least)}`)
  }
  if (maximum !== undefined) {
    const most = bound(maximum, 'Maximum boundary')
    if (exclusiveMaximum ? value >= most : value > most)
      found.invalid(path, value, `should be less than ${exclusiveMaximum ? '' : 'or equal to '}${goNumber(most)}`)
  }
}

function isMultiple(value: number | bigint, factor: number): boolean {
  if (typeof value === 'bigint')
    return Number.isInteger(factor) ? value % BigInt(factor) === 0n : isMultiple(Number(value), factor)
  if (Number.isInteger(value) && Number.isInteger(factor)) return value % factor === 0
  return isWhole(factor < 1 ? (1 / factor) * value : value / factor)
}

function checkMultiple(value: number | bigint, factor: number, path: string, found: Findings): void {
  if (factor <= 0) found.badFactor(path, factor)
  else if (!isMultiple(value, factor)) found.invalid(path, value, `should be a multiple of ${goNumber(factor)}`)
}

function checkItems(
  list: readonly unknown[],
  { minItems, maxItems, schema }: Validator,
  path: string,
  old: unknown,
  found: Findings,
): void {
  found.matches += 2
  if (schema.items) {
    const items = validatorOf(schema.items)
    const before = correlatedItems(old, schema)
    for (let i = 0; i < list.length; i++) check(list[i], items, `${path}[${i}]`, before ? before(list[i]) : none, found)
  }
  if (minItems !== undefined && list.length < minItems)
    found.invalid(path, list.length, `should have at least ${minItems} items`)
  if (maxItems !== undefined && list.length > maxItems) found.more(path, list.length, maxItems, 'items')
}

const below = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`)

/** Checks the number of an object's members. */
function checkSize(
  object: JsonObject,
  { minProperties, maxProperties }: Validator,
  path: string,
  found: Findings,
): void {
  const size = Object.keys(object).length
  if (minProperties !== undefined && size < minProperties)
    found.invalid(path, size, `should have at least ${minProperties} properties`)
  else if (maxProperties !== undefined && size > maxProperties) found.more(path, size, maxProperties, 'properties')
}

function checkObject(object: JsonObject, validator: Validator, path: string, old: unknown, found: Findings): void {
  found.matches++
  const { minProperties, maxProperties, required, schema } = validator
  const { properties, others } = schema
  if (minProperties !== undefined || maxProperties !== undefined) checkSize(object, validator, path, found)
  const before = isObject(old) ? old : undefined
  for (const name in object) {
    const property = properties?.get(name)
    const earlier = before && Object.hasOwn(before, name) ? before[name] : none
    if (property) check(object[name], validatorOf(property), below(path, name), earlier, found)
    else if (typeof others === 'object') check(object[name], validatorOf(others), `${path}.${name}`, earlier, found)
    else if (others === false) found.forbidden(path, name)
  }
  if (required) for (const name of required) if (!Object.hasOwn(object, name)) found.missing(`${path}.${name}`)
}

function checkJunctors(
  value: unknown,
  { allOf, anyOf, oneOf, not }: Validator,
  path: string,
  old: unknown,
  found: Findings,
): void {
  found.matches++
  const run = (validator: Validator): Findings => {
    const findings = new Findings()
    checkValue(value, validator, path, old, findings)
    return findings
  }
  if (anyOf) {
    let best: Findings | undefined
    const fits = anyOf.some((branch) => {
      const findings = run(branch)
      if (findings.list.length === 0 || !best || findings.matches > best.matches) best = findings
      return findings.list.length === 0
    })
    if (!fits) found.unjoined(path, 'must validate at least one schema (anyOf)')
    if (best) found.merge(best)
  }
  if (oneOf) {
    const results = oneOf.map(run)
    const valid = results.filter(({ list }) => list.length === 0)
    if (valid.length === 1) found.merge(valid[0]!)
    else {
      found.unjoined(
        path,
        'must validate one and only one schema (oneOf). ' +
          `${valid.length === 0 ? 'Found none valid' : `Found ${valid.length} valid alternatives`}`,
      )
      if (valid.length === 0) found.merge(results.reduce((best, it) => (it.matches > best.matches ? it : best)))
    }
  }
  if (allOf) {
    const results = allOf.map(run)
    for (const result of results) found.merge(result)
    const valid = results.filter(({ list }) => list.length === 0).length
    if (valid < allOf.length)
      found.unjoined(path, `must validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`)
  }
  if (not && run(not).list.length === 0) found.unjoined(path, 'must not validate the schema (not)')
}
