/**
 * What calls of library functions cost, at run time and as estimated, in the units of cel-go: one for a call, a tenth
 * for a character that is looked at. The numbers are part of the API: rules that were accepted must stay so.
 */
import { sizeOf as plainSizeOf } from '../evaluation/sizes.ts'
import type { CallEstimate, Estimate, EstimatedNode } from '../library.ts'
import { fixed, perCharacter, perPatternCharacter, plus, scaled, times, unbounded } from '../standard/declare.ts'
import { CelList, CelMap, type Value } from '../values.ts'

/** Making a list. */
export const listCost = 10
/** A call that only passes something on. */
export const one = fixed(1)

/** What an overload costs, in both ways. */
export interface Costs {
  readonly cost?: (args: readonly Value[], result: Value) => number
  readonly estimate?: (args: readonly EstimatedNode[]) => CallEstimate
}

/** A value that a library knows the size of, such as an IP address. */
export interface Sized {
  readonly sizeInBytes: number
}

/** The size that costs are made of: characters, bytes, elements; 1 for what has none. */
export const sizeOf = (value: Value | undefined): number =>
  isSized(value) ? value.sizeInBytes : plainSizeOf(value ?? null)

const isSized = (value: unknown): value is Sized =>
  typeof value === 'object' && value !== null && 'sizeInBytes' in value

/** Looking at so many characters once (or `times` times). */
export const lookingAt = (size: number, times = 1): number => Math.ceil(size * times * perCharacter)

/** Matching a text of so many characters with a pattern of so many. */
export const matching = (text: number, pattern: number): number =>
  Math.ceil((1 + text) * perCharacter) * Math.ceil(pattern * perPatternCharacter)

/** A look at everything in a value: what strings and bytes weigh, and 1 for all else. */
export function traversal(value: Value): number {
  if (typeof value === 'string') return Math.floor(new TextEncoder().encode(value).length * perCharacter)
  if (value instanceof Uint8Array) return Math.floor(value.length * perCharacter)
  let cost = 0
  if (value instanceof CelList) for (const item of value) cost += traversal(item)
  else if (value instanceof CelMap)
    for (const key of value.keys()) cost += traversal(key) + traversal(value.get(key) ?? null)
  else return 1
  return cost
}

/** The estimate for looking at all characters of something so large. */
export const lookingAtEstimate = (size: Estimate, times = 1): Estimate => scaled(size, times * perCharacter)

/** The estimate for matching; an empty text is not free. */
export const matchingEstimate = (text: Estimate, pattern: Estimate): Estimate =>
  times(lookingAtEstimate(plus(text, one)), scaled(pattern, perPatternCharacter))

/** An argument that is not there has an unknown size. */
export const sizeEstimate = (node: EstimatedNode | undefined): Estimate => node?.size ?? { min: 0, max: unbounded }

/** The first argument is looked at once (or `times` times); the result is as large if `keepsSize` says so. */
export const looksAtFirst = (times = 1, keepsSize = false): Costs => ({
  cost: (args) => lookingAt(sizeOf(args[0]), times),
  estimate: ([first]) => {
    const size = sizeEstimate(first)
    return keepsSize ? { cost: lookingAtEstimate(size, times), size } : { cost: lookingAtEstimate(size, times) }
  },
})
