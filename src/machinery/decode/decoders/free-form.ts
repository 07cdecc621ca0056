/** Decodes free-form JSON: counts it, limits its depth, and converts its numbers. */
import { integerOrFloat } from '../../../lib/exact-json.ts'
import { setOwn } from '../../../lib/own.ts'
import { DecodeError } from '../decode-error.ts'
import { fieldPath } from '../duplicate-keys.ts'
import { goNumberValue } from '../go-type.ts'
import { maxDepth } from '../limits/depth.ts'
import { checkSize, type Decoder, type Plain, type Run } from './run.ts'

/** Returns true for numbers that are not parsed to a JavaScript number: long integers, and floats as their texts. */
const isSpecial = (value: unknown): value is bigint | symbol => typeof value === 'bigint' || typeof value === 'symbol'

/** Converts such a number as Go does if there is no type: to an int64 or a float64. */
function plainNumber(value: bigint | symbol): number | bigint {
  if (typeof value === 'bigint') return integerOrFloat(value)
  const float = floatOf(value)
  if (float === undefined)
    throw new DecodeError(`json: cannot unmarshal ${goNumberValue(value)} into Go value of type float64`)
  return float
}

/** Counts the keys and items of free-form JSON, limits its depth, and converts special numbers, in place. */
export function surveyFreeForm(value: unknown, run: Run, depth: number): void {
  if (typeof value !== 'object' || value === null) return
  if (depth > maxDepth)
    throw new DecodeError(`exceeded max depth: ${fieldPath(run.path)} is nested more than ${maxDepth} levels deep`)
  checkSize(run)
  if (Array.isArray(value)) {
    run.items += value.length
    for (let i = 0; i < value.length; i++) {
      const item: unknown = value[i]
      if (typeof item === 'object') surveyFreeForm(item, run, depth + 1)
      else if (isSpecial(item)) value[i] = plainNumber(item)
    }
    return
  }
  for (const key in value) {
    run.keys++
    const member = (value as Plain)[key]
    if (typeof member === 'object') surveyFreeForm(member, run, depth + 1)
    else if (isSpecial(member)) setOwn(value as Plain, key, plainNumber(member))
  }
}

export const freeForm: Decoder = (value, run) => {
  if (isSpecial(value)) return plainNumber(value)
  surveyFreeForm(value, run, 0)
  return value
}

/** Converts a long integer or a float's text to a number. Returns undefined beyond float64, and for other values. */
export function floatOf(value: unknown): number | undefined {
  if (!isSpecial(value)) return undefined
  const float = Number(typeof value === 'symbol' ? value.description : value)
  return Number.isFinite(float) ? float : undefined
}
