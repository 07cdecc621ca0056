/** Lists and maps of literals: they are created once, and cost nothing. */
import type { Expr } from '../syntax/ast.ts'
import { ArrayList, CelError, EntryMap, type Value } from '../values.ts'

/**
 * Returns the value of a constant expression, or undefined if it is not constant or fails, which evaluation reports.
 */
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
