/** Compiles a checked expression to closures. The cost of each node at run time is that of cel-go's interpreter. */
import type { Checked } from '../checker/check.ts'
import type { Call, CreateList, CreateMap, CreateStruct, Expr, Select } from '../syntax/ast.ts'
import { ArrayList, CelError, EntryMap, type Value } from '../values.ts'
import { element, elementOptional, present, select, selectOptional } from './access.ts'
import { compileCall } from './calls.ts'
import type { Compilation } from './compilation.ts'
import { compileComprehension } from './comprehension.ts'
import { constantValue } from './constants.ts'
import type { Evaluate } from './frame.ts'
import { makeObject, unwrapElement } from './structures.ts'

const costs = { list: 10, map: 30, struct: 40 } as const

/**
 * Compiles a whole expression. Its frames have `size` slots; `variables` are the slots of the variables that it reads.
 */
export function compileExpression(
  expr: Expr,
  checked: Checked,
): { readonly evaluate: Evaluate; readonly size: number; readonly variables: ReadonlyMap<string, number> } {
  let size = 0
  const to: Compilation = {
    checked,
    variables: new Map(),
    locals: [],
    claim: () => size++,
    compile: (part) => compile(part, to),
    compileFree: (part) => compileFree(part, to),
  }
  return { evaluate: compile(expr, to), size, variables: to.variables }
}

function compile(expr: Expr, to: Compilation): Evaluate {
  switch (expr.kind) {
    case 'literal':
      return constant(expr.value)
    case 'identifier':
      return compileAttribute(expr, to)
    case 'select':
      return expr.testOnly ? compilePresence(expr, to) : compileAttribute(expr, to)
    case 'call':
      return isPath(expr) ? compileAttribute(expr, to) : compileCall(expr, to)
    case 'list':
      return compileList(expr, to)
    case 'map':
      return compileMap(expr, to)
    case 'struct':
      return compileStruct(expr, to)
    case 'comprehension':
      return compileComprehension(expr, to)
    default:
      return expr satisfies never
  }
}

const constant =
  (value: Value): Evaluate =>
  () =>
    value

const isPath = ({ function: name }: Call): boolean => name === '_[_]' || name === '_[?_]' || name === '_?._'

/**
 * Compiles a variable with its selections: costs one for the whole and one per step. Names of constants cost nothing.
 */
function compileAttribute(expr: Expr, to: Compilation): Evaluate {
  const known = to.checked.names.get(expr.id)?.declaration.value
  if (known !== undefined) return constant(known)
  const { evaluate, steps } = compilePath(expr, to)
  const cost = steps + 1
  return (frame) => {
    frame.spend(cost)
    return evaluate(frame)
  }
}

/** Compiles an operand whose own read is free: the branch of a conditional, or an index. Steps cost one each. */
function compileFree(expr: Expr, to: Compilation): Evaluate {
  if (
    expr.kind !== 'identifier' &&
    !(expr.kind === 'select' && !expr.testOnly) &&
    !(expr.kind === 'call' && isPath(expr))
  )
    return compile(expr, to)
  const { evaluate, steps } = compilePath(expr, to)
  if (steps === 0) return evaluate
  return (frame) => {
    frame.spend(steps)
    return evaluate(frame)
  }
}

/** Compiles a path that does not charge. `steps` is its cost. */
function compilePath(expr: Expr, to: Compilation): { readonly evaluate: Evaluate; readonly steps: number } {
  const reference = to.checked.names.get(expr.id)
  if (reference)
    return {
      evaluate:
        reference.declaration.value === undefined
          ? compileVariable(reference.name, reference.local, to)
          : constant(reference.declaration.value),
      steps: 0,
    }
  if (expr.kind === 'select' && !expr.testOnly) {
    const operand = compilePath(expr.operand, to)
    const { field } = expr
    const inner = operand.evaluate
    return { evaluate: (frame) => select(inner(frame), field), steps: operand.steps + 1 }
  }
  if (expr.kind === 'call' && isPath(expr)) {
    const [container, index] = expr.arguments as [Expr, Expr]
    const operand = compilePath(container, to)
    const [inner, at] = [operand.evaluate, compileFree(index, to)]
    const pick = expr.function === '_[_]' ? element : elementOptional
    const fieldName = index.kind === 'literal' && expr.function === '_?._' ? String(index.value) : undefined
    const evaluate: Evaluate =
      fieldName === undefined
        ? (frame) => pick(inner(frame), at(frame))
        : (frame) => selectOptional(inner(frame), fieldName)
    return { evaluate, steps: operand.steps + 1 }
  }
  return { evaluate: compile(expr, to), steps: 0 }
}

/** Reads a variable. An accumulator may hold an error, which is thrown when it is read. */
function compileVariable(name: string, local: boolean, to: Compilation): Evaluate {
  const slot =
    (local ? to.locals.findLast((scope) => scope.has(name))?.get(name) : undefined) ?? environmentSlot(name, to)
  return ({ slots }) => {
    const value = slots[slot]
    if (value === undefined) throw new CelError(`no such attribute(s): ${name}`)
    if (value instanceof CelError) throw value
    return value
  }
}

function environmentSlot(name: string, to: Compilation): number {
  const known = to.variables.get(name) ?? to.claim()
  to.variables.set(name, known)
  return known
}

/** `has(x.f)`: costs as much as x. */
function compilePresence({ operand, field }: Select, to: Compilation): Evaluate {
  const evaluate = compile(operand, to)
  return (frame) => present(evaluate(frame), field)
}

function compileList(expr: CreateList, to: Compilation): Evaluate {
  const known = constantValue(expr)
  if (known !== undefined) return constant(known)
  const elements = expr.elements.map((item) => compile(item, to))
  const { optional } = expr
  return (frame) => {
    const values: Value[] = []
    for (let index = 0; index < elements.length; index++) {
      const value = (elements[index] as Evaluate)(frame)
      const unwrapped = optional.has(index) ? unwrapElement(value) : value
      if (unwrapped !== undefined) values.push(unwrapped)
    }
    frame.spend(costs.list)
    return new ArrayList(values)
  }
}

function compileMap(expr: CreateMap, to: Compilation): Evaluate {
  const known = constantValue(expr)
  if (known !== undefined) return constant(known)
  const entries = expr.entries.map(({ key, value, optional }) => ({
    key: compile(key, to),
    value: compile(value, to),
    optional,
  }))
  return (frame) => {
    const made = new EntryMap()
    for (const { key, value, optional } of entries) {
      const name = key(frame)
      const found = optional ? unwrapElement(value(frame)) : value(frame)
      if (found !== undefined) made.add(name, found)
    }
    frame.spend(costs.map)
    return made
  }
}

function compileStruct(expr: CreateStruct, to: Compilation): Evaluate {
  const type = to.checked.types.get(expr.id)
  const entries = expr.entries.map(({ field, value, optional }) => ({ field, value: compile(value, to), optional }))
  return (frame) => {
    const fields = new Map<string, Value>()
    for (const { field, value, optional } of entries) {
      const found = optional ? unwrapElement(value(frame)) : value(frame)
      if (found !== undefined) fields.set(field, found)
    }
    frame.spend(costs.struct)
    return makeObject(type, fields)
  }
}
