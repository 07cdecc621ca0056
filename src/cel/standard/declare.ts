/** Functions that declare overloads and compute with estimates. */
import type { CallEstimate, Estimate, EstimatedNode, FunctionDeclaration, Overload } from '../library.ts'
import type { Type } from '../types.ts'
import type { Value } from '../values.ts'

/** An implementation with specific parameter types. */
type Implementation = (...args: never[]) => Value

type Costs = Pick<Overload, 'cost' | 'estimate'>

export const overload = (
  id: string,
  parameters: readonly Type[],
  result: Type,
  evaluate: Implementation,
  costs: Costs = {},
): Overload => ({
  id,
  parameters,
  result,
  // The checker guarantees the types of the arguments.
  evaluate: evaluate as Overload['evaluate'],
  ...costs,
})

export const member: typeof overload = (...args) => ({ ...overload(...args), member: true })

export const declare = (name: string, ...overloads: Overload[]): FunctionDeclaration => ({ name, overloads })

/** The cap of estimates, also the maximum of unknown ones. */
export const unbounded = 2 ** 64

const capped = (value: number): number => Math.min(value, unbounded)
export const fixed = (value: number): Estimate => ({ min: value, max: value })
export const plus = (a: Estimate, b: Estimate): Estimate => ({ min: capped(a.min + b.min), max: capped(a.max + b.max) })
export const times = (a: Estimate, b: Estimate): Estimate => ({
  min: capped(a.min * b.min),
  max: capped(a.max * b.max),
})
export const union = (a: Estimate, b: Estimate): Estimate => ({
  min: Math.min(a.min, b.min),
  max: Math.max(a.max, b.max),
})
/** Multiplies an estimate and rounds up, as all costs. */
export const scaled = (a: Estimate, factor: number): Estimate => ({
  min: capped(Math.ceil(a.min * factor)),
  max: capped(Math.ceil(a.max * factor)),
})

/** The cost per scanned character. */
export const perCharacter = 0.1
/** The cost per character of a regular expression. */
export const perPatternCharacter = 0.25

export const sizeAt = (args: readonly EstimatedNode[], index: number): Estimate =>
  args[index]?.size ?? { min: 0, max: unbounded }

/** Estimates a comparison, which scans the smaller of two values. */
export const comparisonEstimate = (args: readonly EstimatedNode[]): CallEstimate => {
  const most = Math.min(sizeAt(args, 0).max, sizeAt(args, 1).max)
  return { cost: scaled({ min: most > 0 ? 1 : 0, max: most }, perCharacter) }
}
