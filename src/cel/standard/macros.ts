/** The macros of the standard library, of optionals, of `cel.bind` and of comprehensions with two variables. */
import { type Macro, type MacroCall, MacroError } from '../library.ts'
import { type AstFactory, accumulatorVariable, type Expr } from '../syntax/ast.ts'

type Expand = Macro['expand']

const macro = (name: string, count: number, expand: Expand): Macro => ({ name, member: true, arguments: count, expand })
const accumulator = (make: AstFactory): Expr => make.identifier(accumulatorVariable)

/** Returns the name of an argument that must be a variable. */
function variable(argument: Expr | undefined, message = 'argument must be a simple name'): string {
  if (argument?.kind !== 'identifier' || argument.name.startsWith('.')) throw new MacroError(message, argument)
  if (argument.name === accumulatorVariable || argument.name === '__result__')
    throw new MacroError('iteration variable overwrites accumulator variable', argument)
  return argument.name
}

/** Returns the target and the one or two variables before the last `rest` arguments. */
function loop(
  { target, arguments: args }: MacroCall,
  rest: number,
): { range: Expr; variable: string; variable2?: string } {
  const range = target as Expr
  if (args.length === 1 + rest) return { range, variable: variable(args[0]) }
  const [first, second] = [variable(args[0]), variable(args[1])]
  if (first === second) throw new MacroError(`duplicate variable name: ${first}`, args[1])
  return { range, variable: first, variable2: second }
}

const last = (call: MacroCall): Expr => call.arguments.at(-1) as Expr

const all: Expand = (call, make) =>
  make.fold({
    ...loop(call, 1),
    accumulator: accumulatorVariable,
    initial: make.literal(true),
    condition: make.call('@not_strictly_false', accumulator(make)),
    step: make.call('_&&_', accumulator(make), last(call)),
    result: accumulator(make),
  })

const exists: Expand = (call, make) =>
  make.fold({
    ...loop(call, 1),
    accumulator: accumulatorVariable,
    initial: make.literal(false),
    condition: make.call('@not_strictly_false', make.call('!_', accumulator(make))),
    step: make.call('_||_', accumulator(make), last(call)),
    result: accumulator(make),
  })

const existsOne: Expand = (call, make) =>
  make.fold({
    ...loop(call, 1),
    accumulator: accumulatorVariable,
    initial: make.literal(0n),
    condition: make.literal(true),
    step: make.call('_?_:_', last(call), make.call('_+_', accumulator(make), make.literal(1n)), accumulator(make)),
    result: make.call('_==_', accumulator(make), make.literal(1n)),
  })

/** Creates a fold that collects `element` into a list, if `filter` is true. */
function collect(
  make: AstFactory,
  names: { range: Expr; variable: string; variable2?: string },
  element: Expr,
  filter?: Expr,
): Expr {
  const append = make.call('_+_', accumulator(make), make.list(element))
  return make.fold({
    ...names,
    accumulator: accumulatorVariable,
    initial: make.list(),
    condition: make.literal(true),
    step: filter ? make.call('_?_:_', filter, append, accumulator(make)) : append,
    result: accumulator(make),
  })
}

const map: Expand = (call, make) => {
  const names = { range: call.target as Expr, variable: variable(call.arguments[0], 'argument is not an identifier') }
  return collect(make, names, last(call), call.arguments.length === 3 ? call.arguments[1] : undefined)
}

const filter: Expand = (call, make) => {
  const name = variable(call.arguments[0], 'argument is not an identifier')
  return collect(make, { range: call.target as Expr, variable: name }, make.identifier(name), last(call))
}

/** `transformList(i, v, f)` and `transformList(i, v, filter, f)`. */
const transformList =
  (rest: 1 | 2): Expand =>
  (call, make) =>
    collect(make, loop(call, rest), last(call), rest === 2 ? call.arguments[2] : undefined)

/** Creates a fold that collects entries into a map. `@mapInsert` fails for a duplicate key. */
const transformMap =
  (rest: 1 | 2, entry: boolean): Expand =>
  (call, make) => {
    const names = loop(call, rest)
    const insert = entry
      ? make.call('cel.@mapInsert', accumulator(make), last(call))
      : make.call('cel.@mapInsert', accumulator(make), make.identifier(names.variable), last(call))
    const condition = rest === 2 ? (call.arguments[2] as Expr) : undefined
    return make.fold({
      ...names,
      accumulator: accumulatorVariable,
      initial: make.map(),
      condition: make.literal(true),
      step: condition ? make.call('_?_:_', condition, insert, accumulator(make)) : insert,
      result: accumulator(make),
    })
  }

const has: Expand = ({ arguments: [field] }, make) => {
  if (field?.kind !== 'select' || field.testOnly) throw new MacroError('invalid argument to has() macro', field)
  return make.presence(field.operand, field.field)
}

/** Creates a binding: a fold over an empty list whose initial value is the variable's value. */
const bound = (make: AstFactory, name: string, value: Expr, result: Expr): Expr =>
  make.fold({
    variable: '#unused',
    range: make.list(),
    accumulator: name,
    initial: value,
    condition: make.literal(false),
    step: make.identifier(name),
    result,
  })

/** `cel.bind(name, value, result)`. Applies only to the namespace `cel`. */
const bind: Expand = ({ target, arguments: [name, value, result] }, make) => {
  if (target?.kind !== 'identifier' || target.name !== 'cel') return undefined
  return bound(
    make,
    variable(name, 'cel.bind() variable names must be simple identifiers'),
    value as Expr,
    result as Expr,
  )
}

/** `x.optMap(v, f)` and `x.optFlatMap(v, f)`. x is bound unless it is a name, so that it is evaluated once. */
const optional =
  (flat: boolean): Expand =>
  ({ target, arguments: [name, result] }, make) => {
    const kind = flat ? 'optFlatMap' : 'optMap'
    const local = variable(name, `${kind}() variable name must be a simple identifier`)
    const whole = (operand: () => Expr): Expr => {
      const inner = bound(make, local, make.memberCall('value', operand()), result as Expr)
      return make.call(
        '_?_:_',
        make.memberCall('hasValue', operand()),
        flat ? inner : make.call('optional.of', inner),
        make.call('optional.none'),
      )
    }
    const operand = target as Expr
    if (operand.kind === 'identifier' || operand.kind === 'select') return whole(() => operand)
    return bound(
      make,
      '@target',
      operand,
      whole(() => make.identifier('@target')),
    )
  }

export const standardMacros: readonly Macro[] = [
  { name: 'has', arguments: 1, expand: has },
  macro('all', 2, all),
  macro('exists', 2, exists),
  macro('exists_one', 2, existsOne),
  macro('existsOne', 2, existsOne),
  macro('map', 2, map),
  macro('map', 3, map),
  macro('filter', 2, filter),
]

export const twoVariableMacros: readonly Macro[] = [
  macro('all', 3, all),
  macro('exists', 3, exists),
  macro('exists_one', 3, existsOne),
  macro('existsOne', 3, existsOne),
  macro('transformList', 3, transformList(1)),
  macro('transformList', 4, transformList(2)),
  macro('transformMap', 3, transformMap(1, false)),
  macro('transformMap', 4, transformMap(2, false)),
  macro('transformMapEntry', 3, transformMap(1, true)),
  macro('transformMapEntry', 4, transformMap(2, true)),
]

export const bindMacro: Macro = macro('bind', 3, bind)

export const optionalMacros: readonly Macro[] = [
  macro('optMap', 2, optional(false)),
  macro('optFlatMap', 2, optional(true)),
]
