/** A compiled admission expression, or the reason why it is invalid. */
import type { Environment } from '../environment.ts'
import type { Program } from '../program.ts'
import { formatType, type Type } from '../types.ts'

export interface Expression {
  readonly source: string
  /** Undefined if the expression is invalid. */
  readonly program?: Program
  /** Upstream's error message; empty if the expression is valid. */
  readonly fault: string
}

/** Compiles an expression. `results` are the allowed result types. Default: all. */
export function compileExpression(environment: Environment, source: string, results: readonly Type[] = []): Expression {
  const compiled = environment.compile(source)
  if (!('program' in compiled)) return { source, fault: `compilation failed: ${compiled.errors}` }
  const { program } = compiled
  const found = typeText(program.type)
  if (results.length === 0 || results.some((type) => typeText(type) === found)) return { source, program, fault: '' }
  const wanted = results.map(typeText)
  const fault =
    wanted.length === 1
      ? `must evaluate to ${wanted[0]} but got ${found}`
      : `must evaluate to one of [${wanted.join(' ')}] but got ${found}`
  return { source, fault }
}

const typeText = (type: Type): string => (type.kind === 'null' ? 'null_type' : formatType(type))
