/**
 * Compiles folds over lists and maps, to which `all`, `exists`, `map` and `filter` expand. Results are built in place.
 */
import { accumulatorVariable, type Comprehension, type Expr } from '../syntax/ast.ts'
import { ArrayList, CelError, CelList, CelMap, EntryMap, type Value } from '../values.ts'
import type { Compilation } from './compilation.ts'
import { constantValue } from './constants.ts'
import type { Evaluate, Frame } from './frame.ts'
import { goTypeName } from './type-of.ts'

export function compileComprehension(expr: Comprehension, to: Compilation): Evaluate {
  const range = to.compile(expr.range)
  const initial =
    expr.initial.kind === 'map' && expr.initial.entries.length === 0 ? () => new EntryMap() : to.compile(expr.initial)
  const accumulator = to.claim()
  to.locals.push(new Map([[expr.accumulator, accumulator]]))
  const variable = to.claim()
  const variable2 = expr.variable2 === undefined ? undefined : to.claim()
  to.locals.push(
    new Map(
      expr.variable2 === undefined
        ? [[expr.variable, variable]]
        : [
            [expr.variable, variable],
            [expr.variable2, variable2 as number],
          ],
    ),
  )
  const collected = collecting(expr)
  const filter = collected?.filter && to.compile(collected.filter)
  const item = collected && to.compile(collected.element)
  const condition = collected ? undefined : to.compile(expr.condition)
  const step = collected ? undefined : to.compile(expr.step)
  to.locals.pop()
  const result = to.compile(expr.result)
  to.locals.pop()
  const loop: Loop = { range, variable, variable2 }
  if (item) return collect(loop, item, filter, constantValue(collected.element) === undefined ? 12 : 2)
  if (!condition || !step) throw new Error('a fold has a condition and a step')
  return fold(loop, accumulator, { initial, condition, step, result }, expr.condition.kind === 'literal')
}

interface Loop {
  readonly range: Evaluate
  readonly variable: number
  readonly variable2: number | undefined
}

interface Fold {
  readonly initial: Evaluate
  readonly condition: Evaluate
  readonly step: Evaluate
  readonly result: Evaluate
}

/**
 * Compiles a fold. An error in a step is stored in the accumulator, because a later step may absorb it; if the
 * condition is constant, nothing absorbs it, and it is thrown.
 */
function fold(
  { range, variable, variable2 }: Loop,
  accumulator: number,
  { initial, condition, step, result }: Fold,
  always: boolean,
): Evaluate {
  return (frame) => {
    const values = range(frame)
    frame.slots[accumulator] = initial(frame)
    each(values, frame, variable, variable2, () => {
      if (condition(frame) !== true) return false
      try {
        frame.slots[accumulator] = step(frame)
      } catch (error) {
        if (always || !(error instanceof CelError)) throw error
        frame.slots[accumulator] = error
      }
      return true
    })
    return result(frame)
  }
}

/**
 * Compiles `map` and `filter`, which cost as much as if each step created a new list: `append` is the cost of the
 * accumulator, the addition, and a list that is not constant.
 */
function collect(
  { range, variable, variable2 }: Loop,
  item: Evaluate,
  filter: Evaluate | undefined,
  append: number,
): Evaluate {
  return (frame) => {
    const found: Value[] = []
    each(range(frame), frame, variable, variable2, () => {
      if (filter) {
        const chosen = filter(frame)
        if (typeof chosen !== 'boolean') throw new CelError('no such overload')
        if (!chosen) return true
      }
      found.push(item(frame))
      frame.spend(append)
      return true
    })
    frame.spend(1)
    return new ArrayList(found)
  }
}

function each(values: Value, frame: Frame, variable: number, variable2: number | undefined, body: () => boolean): void {
  const { slots } = frame
  if (values instanceof CelList) {
    const { size } = values
    for (let index = 0; index < size; index++) {
      frame.countIteration()
      if (variable2 === undefined) slots[variable] = values.at(index)
      else {
        slots[variable] = BigInt(index)
        slots[variable2] = values.at(index)
      }
      if (!body()) return
    }
    return
  }
  if (!(values instanceof CelMap)) throw new CelError(`got '${goTypeName(values)}', expected iterable type`)
  for (const key of values.keys()) {
    frame.countIteration()
    slots[variable] = key
    if (variable2 !== undefined) slots[variable2] = values.get(key) as Value
    if (!body()) return
  }
}

/** Returns the parts of a fold that only appends to a list. */
function collecting({
  initial,
  condition,
  step,
  result,
}: Comprehension): { readonly element: Expr; readonly filter?: Expr } | undefined {
  if (initial.kind !== 'list' || initial.elements.length > 0 || condition.kind !== 'literal' || !isAccumulator(result))
    return undefined
  if (step.kind !== 'call') return undefined
  if (step.function === '_+_') {
    const element = appended(step)
    return element && { element }
  }
  const [filter, append, otherwise] = step.arguments
  if (step.function !== '_?_:_' || !filter || !append || !otherwise || !isAccumulator(otherwise)) return undefined
  const element = appended(append)
  return element && { element, filter }
}

function appended(expr: Expr): Expr | undefined {
  if (expr.kind !== 'call' || expr.function !== '_+_') return undefined
  const [left, right] = expr.arguments
  return left && isAccumulator(left) && right?.kind === 'list' && right.elements.length === 1
    ? right.elements[0]
    : undefined
}

const isAccumulator = (expr: Expr): boolean => expr.kind === 'identifier' && expr.name === accumulatorVariable
