/** Lists and maps of literals only: they are made once, and cost nothing. */
import type { Expr } from '../syntax/ast.ts'
import { ArrayList, CelError, EntryMap, type Value } from '../values.ts'

/** The value of a constant expression; undefined if it is none (or faulty: that is told when it is evaluated). */
export function constantValue(expr: Expr): Value | undefined {
  if (expr.kind === 'literal') return expr.value
  if (expr.kind === 'list' && expr.optional.size === 0) {
    const values = expr.elements.map(constantValue)
    return values.every((value) => value !== undefined) ? new ArrayList(values) : undefined
  }
  if (expr.kind !== 'map' || expr.entries.some(({ optional }) => optional)) return undefined
  const made = new EntryMap()
  try {
    for (const entry of expr.entries) {
      const [key, value] = [constantValue(entry.key), constantValue(entry.value)]
      if (key === undefined || value === undefined) return undefined
      made.add(key, value)
    }
  } catch (error) {
    if (error instanceof CelError) return undefined
    throw error
  }
  return made
}
