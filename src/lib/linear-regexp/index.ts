/**
 * Regular expressions in Go's syntax (RE2) that take time linear in the text, whatever the expression: an automaton
 * instead of backtracking. Expressions come from clients and run on the serving thread, where `(a+)+$` of JavaScript's
 * own engine would hang it.
 */
import { Automaton } from './automaton.ts'
import { Finder } from './finder.ts'
import { parse } from './parse.ts'
import { compile } from './program.ts'

export { TooMuchWork } from './finder.ts'
export { RegexpSyntaxError } from './parse.ts'

export interface LinearRegexp {
  /** Whether the expression matches anywhere in the text. */
  test(text: string): boolean
}

/** Throws RegexpSyntaxError in Go's words: ``error parsing regexp: missing closing ): `(` ``. */
export const linearRegexp = (source: string): LinearRegexp => new Automaton(compile(parse(source), source))

/** Finds what the expression matches, where `linearRegexp` only says whether it does. Throws RegexpSyntaxError. */
export const regexpFinder = (source: string): Finder => new Finder(compile(parse(source), source))
