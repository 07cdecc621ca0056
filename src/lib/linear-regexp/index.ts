/**
 * Regular expressions in Go's syntax (RE2) that take linear time for any expression: re2js, a port of Go's engine.
 * Expressions come from clients and run on the serving thread, which `(a+)+$` would block in JavaScript's own engine.
 */
import { RE2JS, RE2JSSyntaxException } from 're2js'
import { Finder } from './finder.ts'

export { type Finder, TooMuchWork } from './finder.ts'

/** The error for an invalid expression, with Go's message. */
export class RegexpSyntaxError extends Error {
  constructor(what: string, text: string) {
    super(`error parsing regexp: ${what}: \`${text}\``)
    this.name = 'RegexpSyntaxError'
  }
}

export interface LinearRegexp {
  /** Returns true if the expression matches anywhere in the text. */
  test(text: string): boolean
}

/** Limits of the source in UTF-16 units and of the compiled expression in instructions. */
const maxSourceLength = 100_000
const maxInstructions = 20_000

/** Compiled expressions by source: schemas repeat the same few, and compiling takes far longer than a test. */
const cache = new Map<string, RE2JS>()
const maxCached = 256

/** Throws RegexpSyntaxError with Go's message: ``error parsing regexp: missing closing ): `(` ``. */
export const linearRegexp = (source: string): LinearRegexp => compiled(source)

/** Finds the matches; `linearRegexp` only tests. Throws RegexpSyntaxError. */
export const regexpFinder = (source: string): Finder => new Finder(compiled(source))

function compiled(source: string): RE2JS {
  const known = cache.get(source)
  if (known) return known
  const expression = compile(source)
  if (cache.size >= maxCached) cache.clear()
  cache.set(source, expression)
  return expression
}

function compile(source: string): RE2JS {
  const tooLarge = (): RegexpSyntaxError => new RegexpSyntaxError('expression too large', source)
  if (source.length > maxSourceLength) throw tooLarge()
  try {
    const expression = RE2JS.compile(source)
    if (expression.programSize() > maxInstructions) throw tooLarge()
    return expression
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) throw new RegexpSyntaxError(error.error, error.input ?? '')
    throw error
  }
}
