/** Creates the nodes of one expression with unique ids. */
import type { AstFactory, Comprehension, Expr } from './ast.ts'

/** The ids of one expression. */
export interface Ids {
  next(): number
}

export function ids(): Ids {
  let last = 0
  return { next: () => ++last }
}

/** Returns a factory for nodes at `position`. */
export function astFactory(ids: Ids, position: number): AstFactory {
  const node = () => ({ id: ids.next(), position })
  return {
    literal: (value) => ({ ...node(), kind: 'literal', value }),
    identifier: (name) => ({ ...node(), kind: 'identifier', name }),
    select: (operand, field) => ({ ...node(), kind: 'select', operand, field, testOnly: false }),
    presence: (operand, field) => ({ ...node(), kind: 'select', operand, field, testOnly: true }),
    call: (name, ...args) => ({ ...node(), kind: 'call', function: name, arguments: args }),
    memberCall: (name, target, ...args) => ({ ...node(), kind: 'call', function: name, target, arguments: args }),
    list: (...elements) => ({ ...node(), kind: 'list', elements, optional: new Set() }),
    map: (...entries) => ({
      ...node(),
      kind: 'map',
      entries: entries.map(([key, value]) => ({ ...node(), key, value, optional: false })),
    }),
    fold: (fold): Comprehension => ({ ...node(), kind: 'comprehension', ...fold }),
  }
}

/** Builds a balanced tree of `a && b && c …`, so that the depth of long chains is logarithmic. */
export function balanced(
  ids: Ids,
  name: string,
  terms: readonly Expr[],
  operators: readonly number[],
  low = 0,
  high = terms.length - 1,
): Expr {
  if (low === high) return terms[low] as Expr
  const middle = Math.floor((low + high) / 2)
  const args = [
    balanced(ids, name, terms, operators, low, middle),
    balanced(ids, name, terms, operators, middle + 1, high),
  ]
  return { kind: 'call', id: ids.next(), position: operators[middle] ?? 0, function: name, arguments: args }
}
