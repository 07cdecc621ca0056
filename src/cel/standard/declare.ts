/** How the standard library's overloads are declared, and what they cost. */
import type { CallEstimate, Estimate, EstimatedNode, FunctionDeclaration, Overload } from '../library.ts'
import type { Type } from '../types.ts'
import type { Value } from '../values.ts'

/** An implementation that names the types its parameters promise. */
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
  // The checker has seen to the types of the arguments.
  evaluate: evaluate as Overload['evaluate'],
  ...costs,
})

export const member: typeof overload = (...args) => ({ ...overload(...args), member: true })

export const declare = (name: string, ...overloads: Overload[]): FunctionDeclaration => ({ name, overloads })

/** Beyond this nothing is told apart; what is unknown may be as large. */
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
/** Rounded up, as costs are. */
export const scaled = (a: Estimate, factor: number): Estimate => ({
  min: capped(Math.ceil(a.min * factor)),
  max: capped(Math.ceil(a.max * factor)),
})

/** For each character that is looked at. */
export const perCharacter = 0.1
/** For each character of a regular expression. */
export const perPatternCharacter = 0.25

export const sizeAt = (args: readonly EstimatedNode[], index: number): Estimate =>
  args[index]?.size ?? { min: 0, max: unbounded }

/** The smaller of two is looked at. */
export const comparing = (args: readonly EstimatedNode[]): CallEstimate => {
  const most = Math.min(sizeAt(args, 0).max, sizeAt(args, 1).max)
  return { cost: scaled({ min: most > 0 ? 1 : 0, max: most }, perCharacter) }
}
