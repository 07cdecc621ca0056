/** A schema prepared for validation: keywords as fields, formats as functions, patterns compiled on first use. */
import { type LinearRegexp, linearRegexp, RegexpSyntaxError } from '../../../lib/linear-regexp/index.ts'
import { type FormatCheck, formatCheck, isChecked, type NumberCheck, numberCheck } from '../formats/index.ts'
import type { StructuralSchema } from '../schema.ts'

/** JSON's types as bits; integers have their own. */
export const bits = { string: 1, integer: 2, number: 4, boolean: 8, object: 16, array: 32 } as const
const bitOf: ReadonlyMap<string, number> = new Map(Object.entries(bits))

/** Returns the name of a type by its bit. */
export const typeName = (bit: number): string => nameOf.get(bit) ?? ''
const nameOf: ReadonlyMap<number, string> = new Map([...bitOf].map(([name, bit]) => [bit, name]))

export class Validator {
  readonly schema: StructuralSchema
  /** `integer,string` */
  readonly typeText: string
  /** The allowed types as bits. 0 allows any. */
  readonly types: number
  readonly nullable: boolean
  /** The format if it is checked, else empty. */
  readonly format: string
  readonly checkFormat: FormatCheck | undefined
  readonly checkRange: NumberCheck | undefined
  readonly maxLength: number | undefined
  readonly minLength: number | undefined
  readonly maximum: number | undefined
  readonly minimum: number | undefined
  readonly multipleOf: number | undefined
  readonly exclusiveMaximum: boolean
  readonly exclusiveMinimum: boolean
  readonly maxItems: number | undefined
  readonly minItems: number | undefined
  readonly maxProperties: number | undefined
  readonly minProperties: number | undefined
  readonly enum: readonly unknown[] | undefined
  readonly patternText: string
  readonly required: readonly string[] | undefined
  readonly allOf: readonly Validator[] | undefined
  readonly anyOf: readonly Validator[] | undefined
  readonly oneOf: readonly Validator[] | undefined
  readonly not: Validator | undefined
  readonly joins: boolean
  /** True if scalars need no check but that of their type. */
  readonly plain: boolean
  #pattern: LinearRegexp | undefined

  constructor(schema: StructuralSchema) {
    const { keywords, intOrString, type } = schema
    this.schema = schema
    this.typeText = intOrString ? 'integer,string' : type
    this.types = intOrString ? bits.integer | bits.string : (bitOf.get(type) ?? (type === '' ? 0 : 64))
    this.nullable = schema.nullable
    const format = keywords.format ?? ''
    this.format = isChecked(type, format) ? format : ''
    this.checkFormat = formatCheck(this.format)
    this.checkRange = numberCheck(type, this.format)
    this.maxLength = given(keywords.maxLength)
    this.minLength = given(keywords.minLength)
    this.maximum = given(keywords.maximum)
    this.minimum = given(keywords.minimum)
    this.multipleOf = given(keywords.multipleOf)
    this.exclusiveMaximum = keywords.exclusiveMaximum === true
    this.exclusiveMinimum = keywords.exclusiveMinimum === true
    this.maxItems = given(keywords.maxItems)
    this.minItems = given(keywords.minItems)
    this.maxProperties = given(keywords.maxProperties)
    this.minProperties = given(keywords.minProperties)
    this.enum = keywords.enum?.length ? keywords.enum : undefined
    this.patternText = keywords.pattern ?? ''
    this.required = keywords.required?.length ? keywords.required : undefined
    this.allOf = schema.allOf?.map(validatorOf)
    this.anyOf = schema.anyOf?.map(validatorOf)
    this.oneOf = schema.oneOf?.map(validatorOf)
    this.not = schema.not && validatorOf(schema.not)
    this.joins = Boolean(this.allOf || this.anyOf || this.oneOf || this.not)
    this.plain =
      this.format === '' &&
      !this.joins &&
      !this.enum &&
      this.patternText === '' &&
      this.maxLength === undefined &&
      this.minLength === undefined &&
      this.maximum === undefined &&
      this.minimum === undefined &&
      this.multipleOf === undefined
  }

  /** Returns true if a text matches the pattern, or the error of an invalid pattern. */
  matches(text: string): boolean | RegexpSyntaxError {
    try {
      this.#pattern ??= linearRegexp(this.patternText)
    } catch (error) {
      if (error instanceof RegexpSyntaxError) return error
      throw error
    }
    return this.#pattern.test(text)
  }
}

/** Converts null to undefined. */
const given = (value: number | undefined): number | undefined => value ?? undefined

const validators = new WeakMap<StructuralSchema, Validator>()

/**
 * Returns the validator of a schema. It is created on first use, because objects use few fields of large schemas, and
 * cached as long as the schema exists.
 */
export function validatorOf(schema: StructuralSchema): Validator {
  let validator = validators.get(schema)
  if (!validator) validators.set(schema, (validator = new Validator(schema)))
  return validator
}
