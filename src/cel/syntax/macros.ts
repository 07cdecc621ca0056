/** The macros that the parser expands. */
import type { Macro } from '../library.ts'

/** Macros by `macroKey`. */
export type Macros = ReadonlyMap<string, Macro>

/** Returns the key of a macro: its name, number of arguments, and whether it is a member. */
export const macroKey = (macro: Pick<Macro, 'name' | 'member' | 'arguments'>): string =>
  `${macro.name}:${macro.arguments === 'any' ? '*' : macro.arguments}:${macro.member === true}`
