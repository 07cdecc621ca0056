/**
 * Regular expressions in Go's syntax (RE2) that take linear time for any expression: an automaton instead of
 * backtracking. Expressions come from clients and run on the serving thread, which `(a+)+$` would block in JavaScript's
 * own engine.
 */
import { Automaton } from './automaton.ts'
import { Finder } from './finder.ts'
import { parse } from './parse.ts'
import { compile } from './program.ts'

export { TooMuchWork } from './finder.ts'
export { RegexpSyntaxError } from './parse.ts'

export interface LinearRegexp {
  /** Returns true if the expression matches anywhere in the text. */
  test(text: string): boolean
}

/** Throws RegexpSyntaxError with Go's message: ``error parsing regexp: missing closing ): `(` ``. */
export const linearRegexp = (source: string): LinearRegexp => new Automaton(compile(parse(source), source))

/** Finds the matches; `linearRegexp` only tests. Throws RegexpSyntaxError. */
export const regexpFinder = (source: string): Finder => new Finder(compile(parse(source), source))
