/**
 * Kubernetes' checks of literals at compile time: rejects patterns, durations and times that a function would reject at
 * run time, and lists and maps with elements of several types.
 */
import type { Call, CreateList, CreateMap, Expr } from '../syntax/ast.ts'
import type { Issue } from '../syntax/issues.ts'
import { dynType, formatType, isOptionalType, type Type } from '../types.ts'
import { CelError } from '../values.ts'
import type { Checked } from './check.ts'
import { sameType } from './unify.ts'

/** Overloads with a checked argument, and its index. */
const checkedArguments: Readonly<Record<string, number>> = {
  matches: 1,
  matches_string: 1,
  string_to_duration: 0,
  string_to_timestamp: 0,
}

/** Returns the errors of the literals in an expression. */
export function literalIssues(checked: Checked, expr: Expr): Issue[] {
  const all = [...nodes(expr)]
  return [
    ...mixedTypeIssues(checked, expr),
    ...all.filter((node) => node.kind === 'call').flatMap((call) => argumentIssues(checked, call)),
  ]
}

/** Only the arguments of `format` may have mixed types. */
function mixedTypeIssues(checked: Checked, expr: Expr, exempt = false): Issue[] {
  const own = exempt
    ? []
    : expr.kind === 'list'
      ? mixedList(checked, expr)
      : expr.kind === 'map'
        ? mixedMap(checked, expr)
        : []
  const inner =
    expr.kind === 'call' ? expr.function === 'format' : exempt && (expr.kind === 'list' || expr.kind === 'map')
  return [...own, ...children(expr).flatMap((child) => mixedTypeIssues(checked, child, inner))]
}

function mixedList(checked: Checked, { elements, optional }: CreateList): Issue[] {
  const types = elements.map((element, index) => typeOf(checked, element, optional.has(index)))
  const other = types.findIndex((type) => !sameType(type, types[0] as Type))
  return other < 0 ? [] : [mismatch(types[0] as Type, types[other] as Type, elements[other] as Expr)]
}

function mixedMap(checked: Checked, { entries }: CreateMap): Issue[] {
  const [first] = entries
  if (!first) return []
  const [key, value] = [typeOf(checked, first.key), typeOf(checked, first.value, first.optional)]
  return entries.flatMap((entry) => {
    const [own, its] = [typeOf(checked, entry.key), typeOf(checked, entry.value, entry.optional)]
    return [
      ...(sameType(own, key) ? [] : [mismatch(key, own, entry.key)]),
      ...(sameType(its, value) ? [] : [mismatch(value, its, entry.value)]),
    ]
  })
}

function typeOf(checked: Checked, expr: Expr, optional = false): Type {
  const type = checked.types.get(expr.id) ?? dynType
  return optional && isOptionalType(type) ? (type.parameters[0] ?? dynType) : type
}

const mismatch = (expected: Type, found: Type, { position }: Expr): Issue => ({
  message: `expected type '${formatType(expected)}' but found '${formatType(found)}'`,
  position,
})

function argumentIssues(checked: Checked, call: Call): Issue[] {
  const resolved = checked.calls.get(call.id)
  const [overload] = resolved?.overloads ?? []
  const place = overload && checkedArguments[overload.id]
  const argument = place === undefined ? undefined : resolved?.arguments[place]
  if (!overload || argument?.kind !== 'literal' || typeof argument.value !== 'string') return []
  try {
    // Matches an empty text with the pattern, or converts the literal, to validate the argument.
    overload.evaluate(...(place === 0 ? [argument.value] : ['', argument.value]))
    return []
  } catch (error) {
    if (error instanceof CelError)
      return [{ message: `invalid ${call.function} argument`, position: argument.position }]
    throw error
  }
}

/** Yields all nodes of a tree, outer ones first. */
export function* nodes(expr: Expr): Generator<Expr> {
  const pending: Expr[] = [expr]
  for (let node = pending.pop(); node; node = pending.pop()) {
    yield node
    const below = children(node)
    for (let i = below.length - 1; i >= 0; i--) pending.push(below[i] as Expr)
  }
}

function children(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'literal':
    case 'identifier':
      return []
    case 'select':
      return [expr.operand]
    case 'call':
      return expr.target ? [expr.target, ...expr.arguments] : expr.arguments
    case 'list':
      return expr.elements
    case 'map':
      return expr.entries.flatMap(({ key, value }) => [key, value])
    case 'struct':
      return expr.entries.map(({ value }) => value)
    case 'comprehension':
      return [expr.range, expr.initial, expr.condition, expr.step, expr.result]
    default:
      return expr satisfies never
  }
}
