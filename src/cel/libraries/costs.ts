/**
 * The costs of library functions at run time and in estimates, in the units of cel-go: one per call, a tenth per
 * scanned character. The numbers are part of the API: rules that were accepted must remain valid.
 */
import { sizeOf as plainSizeOf } from '../evaluation/sizes.ts'
import type { CallEstimate, Estimate, EstimatedNode } from '../library.ts'
import { fixed, perCharacter, perPatternCharacter, plus, scaled, times, unbounded } from '../standard/declare.ts'
import { CelList, CelMap, type Value } from '../values.ts'

/** The cost of creating a list. */
export const listCost = 10
/** The estimate for a call without further cost. */
export const one = fixed(1)

/** The cost of an overload at run time and in estimates. */
export interface Costs {
  readonly cost?: (args: readonly Value[], result: Value) => number
  readonly estimate?: (args: readonly EstimatedNode[]) => CallEstimate
}

/** A value of a library with a size, such as an IP address. */
export interface Sized {
  readonly sizeInBytes: number
}

/** Returns the size of a value for costs: characters, bytes or elements; 1 for others. */
export const sizeOf = (value: Value | undefined): number =>
  isSized(value) ? value.sizeInBytes : plainSizeOf(value ?? null)

const isSized = (value: unknown): value is Sized =>
  typeof value === 'object' && value !== null && 'sizeInBytes' in value

/** Returns the cost of scanning `size` characters `times` times. */
export const scanCost = (size: number, times = 1): number => Math.ceil(size * times * perCharacter)

/** Returns the cost of matching a text with a pattern of these lengths. */
export const matchCost = (text: number, pattern: number): number =>
  Math.ceil((1 + text) * perCharacter) * Math.ceil(pattern * perPatternCharacter)

/** Returns the cost of traversing a value: a tenth of the length of strings and bytes, and 1 for other scalars. */
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

/** Returns the estimate of scanning all characters. */
export const scanEstimate = (size: Estimate, times = 1): Estimate => scaled(size, times * perCharacter)

/** Returns the estimate of matching. An empty text is not free. */
export const matchEstimate = (text: Estimate, pattern: Estimate): Estimate =>
  times(scanEstimate(plus(text, one)), scaled(pattern, perPatternCharacter))

/** Returns the size of an argument. A missing argument has an unknown size. */
export const sizeEstimate = (node: EstimatedNode | undefined): Estimate => node?.size ?? { min: 0, max: unbounded }

/** The first argument is scanned `times` times. With `keepsSize`, the result has the same size. */
export const scanFirstCosts = (times = 1, keepsSize = false): Costs => ({
  cost: (args) => scanCost(sizeOf(args[0]), times),
  estimate: ([first]) => {
    const size = sizeEstimate(first)
    return keepsSize ? { cost: scanEstimate(size, times), size } : { cost: scanEstimate(size, times) }
  },
})
