/**
 * Compiles calls: logical operators, which absorb errors, and functions, whose overload is chosen at run time only if
 * the types do not determine it.
 */
import type { Overload } from '../library.ts'
import type { Call, Expr } from '../syntax/ast.ts'
import { CelError, CelList, CelMap, OptionalValue, type Value } from '../values.ts'
import type { Compilation } from './compilation.ts'
import { constantValue } from './constants.ts'
import { equals } from './equality.ts'
import type { Evaluate, Frame } from './frame.ts'
import { sizeOf } from './sizes.ts'
import { isOfType } from './type-of.ts'

export function compileCall(expr: Call, to: Compilation): Evaluate {
  const resolved = to.checked.calls.get(expr.id)
  if (!resolved) throw new Error(`the call of ${expr.function} has not been checked`)
  const [first, second, third] = resolved.arguments as readonly [Expr, Expr, Expr]
  switch (expr.function) {
    case '_&&_':
      return logical(to.compile(first), to.compile(second), false)
    case '_||_':
      return logical(to.compile(first), to.compile(second), true)
    case '_?_:_':
      return conditional(to.compile(first), to.compileFree(second), to.compileFree(third))
    case '@not_strictly_false':
      return notStrictlyFalse(to.compile(first))
    case '_==_':
      return equality(to.compile(first), to.compile(second), true)
    case '_!=_':
      return equality(to.compile(first), to.compile(second), false)
    default:
      break
  }
  const overloads = resolved.overloads
  if (expr.function === '@in' && overloads.length === 1 && overloads[0]?.id === 'in_list') {
    const members = constantValue(second)
    if (members !== undefined) return membership(to.compile(first), members, overloads[0])
  }
  if (overloads.some(({ id }) => id === 'optional_or_optional'))
    return alternative(to.compile(first), to.compile(second), false)
  if (overloads.some(({ id }) => id === 'optional_orValue_value'))
    return alternative(to.compile(first), to.compile(second), true)
  if (expr.function === '@in') return contains(to.compile(first), to.compile(second))
  const args = resolved.arguments.map((argument) => to.compile(argument))
  const call = apply(args, overloads, needsDispatch(resolved.overloads, resolved.arguments, to))
  return foldable.has(expr.function) && resolved.arguments.every(({ kind }) => kind === 'literal')
    ? foldConstant(call, args, overloads)
    : call
}

/** `&&` and `||`: an error on one side is absorbed if the other side decides. They cost nothing. */
function logical(left: Evaluate, right: Evaluate, decides: boolean): Evaluate {
  return (frame) => {
    let fault: CelError | undefined
    try {
      const value = left(frame)
      if (value === decides) return decides
      if (typeof value !== 'boolean') fault = new CelError('no such overload')
    } catch (error) {
      if (!(error instanceof CelError)) throw error
      fault = error
    }
    const value = right(frame)
    if (value === decides) return decides
    if (fault) throw fault
    if (typeof value !== 'boolean') throw new CelError('no such overload')
    return value
  }
}

function conditional(condition: Evaluate, yes: Evaluate, no: Evaluate): Evaluate {
  return (frame) => {
    const value = condition(frame)
    if (typeof value !== 'boolean') throw new CelError('no such overload')
    return value ? yes(frame) : no(frame)
  }
}

function notStrictlyFalse(operand: Evaluate): Evaluate {
  return (frame) => {
    let value: Value = true
    try {
      value = operand(frame)
    } catch (error) {
      if (!(error instanceof CelError)) throw error
    }
    frame.spend(1)
    return value !== false
  }
}

function equality(left: Evaluate, right: Evaluate, wanted: boolean): Evaluate {
  return (frame) => {
    const a = argument(left, frame)
    const b = argument(right, frame)
    frame.spend(Math.ceil(Math.min(sizeOf(a), sizeOf(b)) * 0.1))
    return equals(a, b, frame) === wanted
  }
}

/** `x in y`: costs one per element of a list, even if not all are compared. */
function contains(left: Evaluate, right: Evaluate): Evaluate {
  return (frame) => {
    const value = argument(left, frame)
    const container = argument(right, frame)
    frame.spend(container instanceof CelList ? container.size : 1)
    if (container instanceof CelMap) return container.has(value)
    if (!(container instanceof CelList)) throw new CelError('no such overload')
    for (let index = 0; index < container.size; index++) if (equals(container.at(index), value, frame)) return true
    return false
  }
}

/** `x in [1, 2]` with a constant list costs nothing. */
function membership(left: Evaluate, members: Value, overload: Overload): Evaluate {
  return (frame) => overload.evaluate(left(frame), members)
}

/** `x.or(y)` and `x.orValue(y)`: y is evaluated only if x has no value. They cost nothing. */
function alternative(left: Evaluate, right: Evaluate, unwraps: boolean): Evaluate {
  return (frame) => {
    const found = left(frame)
    if (!(found instanceof OptionalValue)) throw new CelError('no such overload')
    if (found.value !== undefined) return unwraps ? found.value : found
    return right(frame)
  }
}

/** Returns true if the overload depends on the values: there are several, or the type of an argument is unknown. */
function needsDispatch(overloads: readonly Overload[], args: readonly Expr[], to: Compilation): boolean {
  if (overloads.length !== 1) return true
  return args.some((argument, index) => {
    const parameter = overloads[0]?.parameters[index]
    if (!parameter || parameter.kind === 'dyn' || parameter.kind === 'parameter') return false
    const kind = to.checked.types.get(argument.id)?.kind
    return kind === 'dyn' || kind === 'error' || kind === 'null' || kind === undefined
  })
}

function apply(args: readonly Evaluate[], overloads: readonly Overload[], dispatch: boolean): Evaluate {
  if (dispatch) return dispatching(args, overloads)
  const overload = overloads[0] as Overload
  const { evaluate } = overload
  const [first, second] = args
  if (overload.cost || args.length > 2 || !first)
    return (frame) => callCharged(frame, overload, evaluateAll(args, frame))
  if (!second)
    return (frame) => {
      const value = argument(first, frame)
      frame.spend(1)
      return evaluate(value)
    }
  return (frame) => {
    const left = argument(first, frame)
    const right = argument(second, frame)
    frame.spend(1)
    return evaluate(left, right)
  }
}

function dispatching(args: readonly Evaluate[], overloads: readonly Overload[]): Evaluate {
  return (frame) => {
    const values = evaluateAll(args, frame)
    const overload = overloads.find(({ parameters }) =>
      parameters.every((parameter, index) => isOfType(values[index] as Value, parameter)),
    )
    if (overload) return callCharged(frame, overload, values)
    frame.spend(1)
    throw new CelError('no such overload')
  }
}

/**
 * Calls an overload. Charges before the call if the cost does not depend on the result, so that it can be prevented.
 */
function callCharged(frame: Frame, { cost, evaluate }: Overload, values: readonly Value[]): Value {
  if (!cost || cost.length < 2) frame.spend(cost ? cost(values, null) : 1)
  const result = evaluate(...values)
  if (cost && cost.length >= 2) frame.spend(cost(values, result))
  return result
}

const evaluateAll = (args: readonly Evaluate[], frame: Frame): Value[] =>
  args.map((evaluate) => argument(evaluate, frame))

/** Evaluates an argument. A call with a failed argument costs one. */
function argument(evaluate: Evaluate, frame: Frame): Value {
  try {
    return evaluate(frame)
  } catch (error) {
    if (error instanceof CelError) frame.spend(1)
    throw error
  }
}

/** Conversions of literals are evaluated at compile time, and cost nothing. */
const foldable = new Set(['int', 'uint', 'double', 'string', 'bytes', 'bool', 'duration', 'timestamp'])

function foldConstant(call: Evaluate, args: readonly Evaluate[], overloads: readonly Overload[]): Evaluate {
  const literals = args.map((argument) => (argument as () => Value)())
  const overload = overloads.find(({ parameters }) =>
    parameters.every((parameter, index) => isOfType(literals[index] as Value, parameter)),
  )
  if (!overload) return call
  try {
    const value = overload.evaluate(...literals)
    return () => value
  } catch (error) {
    if (error instanceof CelError) return call
    throw error
  }
}
