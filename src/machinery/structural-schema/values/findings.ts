/**
 * The result of validating a value: errors with upstream's messages, and the number of matching checks, by which
 * `anyOf` and `oneOf` choose the branch whose errors they report.
 */
import { writeJson } from '../../../lib/exact-json.ts'
import { sortMembers } from '../../fields/json.ts'
import {
  type FieldError,
  fieldError,
  invalidValue,
  notSupported,
  required,
  tooLong,
  tooMany,
} from '../../validation/field-error.ts'

export interface Finding {
  /** Equal texts are reported once. */
  readonly text: string
  /** Creates the field error, if it is reported. */
  readonly fault: (prefix: string) => FieldError
}

/** The limit of errors: a body of 3 MiB can have a million, which nobody reads. */
const maxFindings = 10_000

export class Findings {
  readonly list: Finding[] = []
  /** The number of checks that the value passed. */
  matches = 0

  add(text: string, fault: Finding['fault']): void {
    if (this.list.length < maxFindings) this.list.push({ text, fault })
  }

  merge(other: Findings): void {
    this.matches += other.matches
    for (const { text, fault } of other.list) this.add(text, fault)
  }

  /** Returns the field errors with `prefix` before their paths. */
  faults(prefix: string): FieldError[] {
    const reported = new Set<string>()
    return this.list.flatMap(({ text, fault }) => {
      if (reported.has(text)) return []
      reported.add(text)
      return [fault(prefix)]
    })
  }

  /** The value has another type or format. */
  mistyped(path: string, wanted: string, found: string): void {
    const text = `${path} in body must be of type ${wanted}: ${JSON.stringify(found)}`
    this.add(text, (prefix) =>
      fieldError('FieldValueTypeInvalid', fieldOf(prefix, path), `Invalid value: ${JSON.stringify(found)}: ${text}`),
    )
  }

  invalid(path: string, value: unknown, what: string): void {
    const text = `${path} in body ${what}`
    this.add(text, (prefix) =>
      typeof value === 'number' || typeof value === 'bigint'
        ? fieldError('FieldValueInvalid', fieldOf(prefix, path), `Invalid value: ${goNumber(value)}: ${text}`)
        : invalidValue(fieldOf(prefix, path), sortMembers(value), text),
    )
  }

  /** Adds the error for a forbidden member. */
  forbidden(path: string, name: string): void {
    const text = `${path}.${name} in body is a forbidden property`
    this.add(text, (prefix) => invalidValue(fieldOf(prefix, path), name, text))
  }

  /** Adds the error for an invalid `multipleOf` in the schema. */
  badFactor(path: string, factor: number): void {
    const text = `factor MultipleOf declared for ${path} must be positive: ${goNumber(factor)}`
    this.add(text, (prefix) =>
      fieldError('FieldValueInvalid', fieldOf(prefix, path), `Invalid value: ${goNumber(factor)}: ${text}`),
    )
  }

  missing(path: string): void {
    this.add(`${path} in body is required`, (prefix) => required(fieldOf(prefix, path)))
  }

  notIn(path: string, value: unknown, allowed: readonly unknown[]): void {
    this.add(`${path} in body should be one of ${writeJson(allowed)}`, (prefix) => {
      const words = allowed.map((it) => (typeof it === 'string' ? it : writeJson(it)))
      return notSupported(fieldOf(prefix, path), sortMembers(value), words)
    })
  }

  longer(path: string, most: number): void {
    this.add(`${path} in body should be at most ${most} chars long`, (prefix) => tooLong(fieldOf(prefix, path), most))
  }

  more(path: string, count: number, most: number, of: 'items' | 'properties'): void {
    this.add(`${path} in body should have at most ${most} ${of}`, (prefix) =>
      tooMany(fieldOf(prefix, path), count, most),
    )
  }

  /** Adds the error for a failed `allOf`, `anyOf`, `oneOf` or `not`. */
  unjoined(path: string, what: string): void {
    this.#unplaced(`${JSON.stringify(path)} ${what}`)
  }

  /** Adds the error for a number, or a bound in its schema, that does not fit the format. */
  outOfRange(path: string, what: string, type: string, format: string): void {
    this.#unplaced(
      `${what} value must be of type ${type} ${format === '' ? '(default format)' : `with format ${format}`} in ` +
        `${path}`,
    )
  }

  /** Adds an error for which upstream names no field. */
  #unplaced(text: string): void {
    this.add(text, (prefix) => invalidValue(prefix === '' ? '<nil>' : prefix, '', text))
  }
}

function fieldOf(prefix: string, path: string): string {
  const name = path.startsWith('.') ? path.slice(1) : path
  if (name === '') return prefix === '' ? '<nil>' : prefix
  return prefix === '' ? name : `${prefix}.${name}`
}

/** Formats a number like Go's `%v`: `1e+21`, `1e-05`. */
export function goNumber(value: number | bigint): string {
  if (typeof value === 'bigint') return String(value)
  const size = Math.abs(value)
  const text = size !== 0 && size < 1e-4 ? value.toExponential() : String(value)
  return text.replace(/e([+-])(\d)$/, 'e$10$2')
}
