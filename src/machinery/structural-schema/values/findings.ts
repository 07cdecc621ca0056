/**
 * What validation finds in a value: faults in upstream's words, and how well the value fits, by which `anyOf` and
 * `oneOf` choose what to tell.
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
  /** Equal texts are told once. */
  readonly text: string
  /** The field error, once it is known that it is told. */
  readonly fault: (prefix: string) => FieldError
}

/** More are not kept: nobody reads as many, and a body of 3 MiB can hold a million. */
const mostFindings = 10_000

export class Findings {
  readonly list: Finding[] = []
  /** How many checks the value went through. */
  matches = 0

  add(text: string, fault: Finding['fault']): void {
    if (this.list.length < mostFindings) this.list.push({ text, fault })
  }

  merge(other: Findings): void {
    this.matches += other.matches
    for (const { text, fault } of other.list) this.add(text, fault)
  }

  /** The field errors; paths begin with `prefix`. */
  faults(prefix: string): FieldError[] {
    const told = new Set<string>()
    return this.list.flatMap(({ text, fault }) => {
      if (told.has(text)) return []
      told.add(text)
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

  /** A member that may not be there. */
  forbidden(path: string, name: string): void {
    const text = `${path}.${name} in body is a forbidden property`
    this.add(text, (prefix) => invalidValue(fieldOf(prefix, path), name, text))
  }

  /** The schema itself asks for what cannot be. */
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

  /** `allOf` and its like do not hold. */
  unjoined(path: string, what: string): void {
    this.#unplaced(`${JSON.stringify(path)} ${what}`)
  }

  /** A number, or one of its schema, does not fit the format. */
  outOfRange(path: string, what: string, type: string, format: string): void {
    this.#unplaced(
      `${what} value must be of type ${type} ${format === '' ? '(default format)' : `with format ${format}`} in ` +
        `${path}`,
    )
  }

  /** Upstream names no field. */
  #unplaced(text: string): void {
    this.add(text, (prefix) => invalidValue(prefix === '' ? '<nil>' : prefix, '', text))
  }
}

function fieldOf(prefix: string, path: string): string {
  const name = path.startsWith('.') ? path.slice(1) : path
  if (name === '') return prefix === '' ? '<nil>' : prefix
  return prefix === '' ? name : `${prefix}.${name}`
}

/** A number as Go's `%v` prints it: `1e+21`, `1e-05`. */
export function goNumber(value: number | bigint): string {
  if (typeof value === 'bigint') return String(value)
  const size = Math.abs(value)
  const text = size !== 0 && size < 1e-4 ? value.toExponential() : String(value)
  return text.replace(/e([+-])(\d)$/, 'e$10$2')
}
