/** One expression of admission, compiled: what it is, or why it is none. */
import type { Environment } from '../environment.ts'
import type { Program } from '../program.ts'
import { formatType, type Type } from '../types.ts'

export interface Expression {
  readonly source: string
  /** Absent for one that is faulty. */
  readonly program?: Program
  /** In upstream's words; empty if there is none. */
  readonly fault: string
}

/** `results` are the types that it may have; any, if nothing is said. */
export function compileExpression(environment: Environment, source: string, results: readonly Type[] = []): Expression {
  const compiled = environment.compile(source)
  if (!('program' in compiled)) return { source, fault: `compilation failed: ${compiled.errors}` }
  const { program } = compiled
  const found = shown(program.type)
  if (results.length === 0 || results.some((type) => shown(type) === found)) return { source, program, fault: '' }
  const wanted = results.map(shown)
  const fault =
    wanted.length === 1
      ? `must evaluate to ${wanted[0]} but got ${found}`
      : `must evaluate to one of [${wanted.join(' ')}] but got ${found}`
  return { source, fault }
}

const shown = (type: Type): string => (type.kind === 'null' ? 'null_type' : formatType(type))
