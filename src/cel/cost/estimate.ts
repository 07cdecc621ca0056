/** Estimates the cost of an expression from the sizes that types declare, with the same rules and numbers as cel-go. */
import type { Checked } from '../checker/check.ts'
import { stringSize } from '../evaluation/sizes.ts'
import type { CallEstimate, Estimate, EstimatedNode, Overload } from '../library.ts'
import { fixed, plus, times, unbounded, union } from '../standard/declare.ts'
import { accumulatorVariable, type Call, type Comprehension, type Expr } from '../syntax/ast.ts'
import { dynType, isOptionalType, stringType, type Type } from '../types.ts'

const none: Estimate = fixed(0)
const unknownSize: Estimate = { min: 0, max: unbounded }

/** The sizes of the keys and values of a list or map. */
interface EntrySizes {
  readonly key: Estimate
  readonly value: Estimate
}

/** The declared type at the end of a chain of fields and elements. */
interface Place {
  /** Undefined if it is not declared. */
  readonly type: Type | undefined
}

interface Local {
  /** Undefined for computed values. */
  readonly place?: Place
  readonly size?: Estimate
  readonly entries?: EntrySizes
}

/**
 * Estimates the minimum and maximum cost of `expr`. With a `root`, every chain of fields uses the sizes declared below
 * it, regardless of the name at its start. Kubernetes estimates rules in this way: chains that begin at a type name or
 * a computed value are treated as chains from the root without their first step.
 */
export const estimateCost = (expr: Expr, checked: Checked, root?: Type): Estimate =>
  new Estimator(checked, root).cost(expr)

class Estimator {
  private readonly checked: Checked
  private readonly sizes = new Map<number, Estimate>()
  private readonly entries = new Map<number, EntrySizes>()
  private readonly places = new Map<number, Place>()
  private readonly locals = new Map<string, Local[]>()
  /** The start of all chains, if sizes are declared below a root. */
  private readonly root: Place | undefined

  constructor(checked: Checked, root: Type | undefined) {
    this.checked = checked
    this.root = root && { type: root }
  }

  cost(expr: Expr): Estimate {
    switch (expr.kind) {
      case 'literal':
        return none
      case 'identifier':
        return this.identifierCost(expr)
      case 'select':
        return this.selectCost(expr)
      case 'call':
        return this.callCost(expr)
      case 'list':
        return this.listCost(expr.id, expr.elements)
      case 'map':
        return this.mapCost(expr)
      case 'struct':
        return expr.entries.reduce((sum, { value }) => plus(sum, this.cost(value)), fixed(40))
      case 'comprehension':
        return isBinding(expr) ? this.bindingCost(expr) : this.comprehensionCost(expr)
      default:
        return expr satisfies never
    }
  }

  private findLocal(name: string): Local | undefined {
    return this.locals.get(name)?.at(-1)
  }

  private withLocal<T>(name: string, local: Local, inner: () => T): T {
    const stack = this.locals.get(name) ?? []
    this.locals.set(name, stack)
    stack.push(local)
    const result = inner()
    stack.pop()
    return result
  }

  private typeOf(expr: Expr): Type {
    return this.checked.types.get(expr.id) ?? dynType
  }

  private setPlace(expr: Expr, place: Place | undefined): void {
    if (place) this.places.set(expr.id, place)
  }

  /** Follows one step of a chain. The first step leads to the root. */
  private follow(from: Place | undefined, next: (type: Type | undefined) => Type | undefined): Place | undefined {
    return from ? { type: next(from.type) } : this.root
  }

  private identifierCost(expr: Extract<Expr, { kind: 'identifier' }>): Estimate {
    const local = this.findLocal(expr.name)
    this.setPlace(expr, local ? local.place : this.startOf(expr))
    return fixed(1)
  }

  private startOf(expr: Expr): Place | undefined {
    return this.root ?? { type: this.checked.names.get(expr.id)?.declaration.type }
  }

  private selectCost(expr: Extract<Expr, { kind: 'select' }>): Estimate {
    if (this.checked.names.has(expr.id)) {
      this.setPlace(expr, this.startOf(expr))
      return fixed(1)
    }
    const operand = this.cost(expr.operand)
    // A presence test costs as much as its operand.
    if (expr.testOnly) return operand
    this.setPlace(
      expr,
      this.follow(this.places.get(expr.operand.id), (type) => fieldOf(type, expr.field)),
    )
    const { kind } = this.typeOf(expr.operand)
    return kind === 'map' || kind === 'object' ? plus(operand, fixed(1)) : operand
  }

  private callCost(expr: Call): Estimate {
    const resolved = this.checked.calls.get(expr.id)
    if (expr.function === '_?._') return plus(this.cost(expr.arguments[0] as Expr), fixed(1))
    const args = resolved?.arguments ?? []
    const costs = args.map((argument) => this.cost(argument))
    if (expr.function === 'dyn' && args[0]) {
      this.copySizes(expr, args[0])
      return plus(fixed(1), costs[0] ?? none)
    }
    const sum = costs.reduce(plus, none)
    const nodes = args.map((argument) => this.argumentNode(argument))
    let cost: Estimate | undefined
    let size: Estimate | undefined
    for (const overload of resolved?.overloads ?? []) {
      const own = this.overloadCost(expr, overload, args, nodes, costs, sum)
      cost = cost ? union(cost, own.cost) : own.cost
      if (own.size) size = size ? union(size, own.size) : own.size
      if (overload.id === 'index_list' || overload.id === 'index_map') {
        const [container] = args as [Expr]
        size = this.entrySizes(container)?.value
        this.setPlace(expr, this.follow(this.places.get(container.id), items))
      }
      size ??= this.sizeOf(expr)
    }
    if (size) this.sizes.set(expr.id, size)
    return cost ?? none
  }

  private overloadCost(
    expr: Call,
    { id, estimate }: Overload,
    args: readonly Expr[],
    nodes: readonly EstimatedNode[],
    costs: readonly Estimate[],
    sum: Estimate,
  ): CallEstimate {
    const [first = none, second = none, third = none] = costs
    switch (id) {
      case 'logical_and':
      case 'logical_or':
        return { cost: { min: first.min, max: plus(first, second).max } }
      case 'conditional': {
        const [, yes, no] = args as [Expr, Expr, Expr]
        this.joinEntries(expr, yes, no)
        return { cost: plus(first, union(second, third)), size: union(this.sizeOrUnknown(yes), this.sizeOrUnknown(no)) }
      }
      case 'add_string':
      case 'add_bytes':
      case 'add_list':
        this.joinEntries(expr, args[0] as Expr, args[1] as Expr)
        break
      default:
        break
    }
    const own = estimate?.(nodes) ?? { cost: fixed(1) }
    return { cost: plus(own.cost, sum), size: own.size }
  }

  private joinEntries(expr: Expr, left: Expr, right: Expr): void {
    const [a, b] = [this.entrySizes(left), this.entrySizes(right)]
    if (a && b) this.entries.set(expr.id, { key: union(a.key, b.key), value: union(a.value, b.value) })
  }

  private listCost(id: number, elements: readonly Expr[]): Estimate {
    let sum = fixed(10)
    let value: Estimate | undefined
    for (const element of elements) {
      sum = plus(sum, this.cost(element))
      const size = this.sizeOrUnknown(element)
      value = value ? union(value, size) : size
    }
    this.entries.set(id, { key: fixed(1), value: value ?? none })
    return sum
  }

  private mapCost(expr: Extract<Expr, { kind: 'map' }>): Estimate {
    let sum = fixed(30)
    let sizes: EntrySizes | undefined
    for (const { key, value } of expr.entries) {
      sum = plus(plus(sum, this.cost(key)), this.cost(value))
      const own = { key: this.sizeOrUnknown(key), value: this.sizeOrUnknown(value) }
      sizes = sizes ? { key: union(sizes.key, own.key), value: union(sizes.value, own.value) } : own
    }
    this.entries.set(expr.id, sizes ?? { key: none, value: none })
    return sum
  }

  private comprehensionCost(expr: Comprehension): Estimate {
    const before = plus(this.cost(expr.range), this.cost(expr.initial))
    const accumulated: Local = { size: this.sizeOf(expr.initial), entries: this.entrySizes(expr.initial) }
    return this.withLocal(expr.accumulator, accumulated, () => {
      const iteration = this.iterationCost(expr, () => plus(this.cost(expr.condition), this.cost(expr.step)))
      const result = this.cost(expr.result)
      const count = this.sizeOrUnknown(expr.range)
      if (expr.initial.kind === 'literal') this.setSize(expr, this.sizeOf(expr.initial))
      else if (expr.initial.kind === 'list' || expr.initial.kind === 'map') {
        this.setSize(expr, count)
        const sizes = this.entrySizes(expr.step)
        if (sizes) this.entries.set(expr.id, sizes)
      }
      return plus(plus(before, result), times(count, iteration))
    })
  }

  /** Returns the cost of one iteration: `inner` runs with the loop's variables in scope. */
  private iterationCost(expr: Comprehension, inner: () => Estimate): Estimate {
    const range = this.places.get(expr.range.id)
    const sizes = this.entrySizes(expr.range)
    const isList = this.typeOf(expr.range).kind === 'list'
    const keys: Local = {
      place: this.follow(range, (type) => (isList ? undefined : keysOf(type))),
      size: isList ? fixed(1) : sizes?.key,
    }
    const values: Local = { place: this.follow(range, items), size: sizes?.value }
    if (expr.variable2 === undefined) return this.withLocal(expr.variable, isList ? values : keys, inner)
    const second = expr.variable2
    return this.withLocal(expr.variable, keys, () => this.withLocal(second, values, inner))
  }

  /** `cel.bind`: the value is evaluated once. */
  private bindingCost(expr: Comprehension): Estimate {
    const before = plus(this.cost(expr.range), this.cost(expr.initial))
    const bound: Local = {
      place: this.places.get(expr.initial.id),
      size: this.sizeOf(expr.initial),
      entries: this.entrySizes(expr.initial),
    }
    return this.withLocal(expr.accumulator, bound, () => {
      const cost = plus(before, this.cost(expr.result))
      this.copySizes(expr, expr.result)
      return cost
    })
  }

  private setSize(expr: Expr, size: Estimate | undefined): void {
    if (size) this.sizes.set(expr.id, size)
  }

  private copySizes(to: Expr, from: Expr): void {
    this.setSize(to, this.sizeOf(from))
    const sizes = this.entrySizes(from)
    if (sizes) this.entries.set(to.id, sizes)
  }

  private entrySizes(expr: Expr): EntrySizes | undefined {
    return this.entries.get(expr.id) ?? (expr.kind === 'identifier' ? this.findLocal(expr.name)?.entries : undefined)
  }

  private sizeOrUnknown(expr: Expr): Estimate {
    return this.sizeOf(expr) ?? unknownSize
  }

  private sizeOf(expr: Expr): Estimate | undefined {
    const known = this.sizes.get(expr.id) ?? literalSize(expr)
    if (known) return known
    const declared = declaredSize(this.places.get(expr.id)?.type)
    if (declared) return declared
    if (isScalar(this.typeOf(expr))) return fixed(1)
    return expr.kind === 'identifier' ? this.findLocal(expr.name)?.size : undefined
  }

  private argumentNode(expr: Expr): EstimatedNode {
    const size = this.sizeOf(expr)
    return estimated(
      this.typeOf(expr),
      size,
      this.entrySizes(expr)?.value,
      items(this.places.get(expr.id)?.type),
      expr.kind === 'literal' ? expr.value : undefined,
    )
  }
}

/** Creates the node of an argument with its size and the declared type of its elements. */
function estimated(
  type: Type,
  size: Estimate | undefined,
  element: Estimate | undefined,
  declared: Type | undefined,
  literal?: EstimatedNode['literal'],
): EstimatedNode {
  return {
    type,
    size: size ?? unknownSize,
    sizeKnown: size !== undefined,
    literal,
    get elements() {
      const inner = declared ?? items(type) ?? dynType
      return estimated(
        inner,
        element ?? declaredSize(declared) ?? (isScalar(inner) ? fixed(1) : undefined),
        undefined,
        items(declared),
      )
    },
  }
}

const keysOf = (type: Type | undefined): Type | undefined =>
  type?.kind === 'map' ? type.key : type?.kind === 'object' ? stringType : undefined

/** Returns the type of a field. Upstream ignores the sizes of map members that are selected like fields, by default. */
function fieldOf(type: Type | undefined, field: string): Type | undefined {
  if (type?.kind === 'map' && type.membersAsFields) return type.value
  return type?.kind === 'object' ? type.fields.get(field)?.type : undefined
}

function items(type: Type | undefined): Type | undefined {
  if (type?.kind === 'list') return type.element
  return type?.kind === 'map' ? type.value : undefined
}

function declaredSize(type: Type | undefined): Estimate | undefined {
  return type && 'maxElements' in type && type.maxElements !== undefined ? { min: 0, max: type.maxElements } : undefined
}

function literalSize(expr: Expr): Estimate | undefined {
  if (expr.kind === 'list') return fixed(expr.elements.length)
  if (expr.kind === 'map') return fixed(expr.entries.length)
  if (expr.kind !== 'literal') return undefined
  const { value } = expr
  return fixed(typeof value === 'string' ? stringSize(value) : value instanceof Uint8Array ? value.length : 1)
}

const scalars = new Set<Type['kind']>(['bool', 'double', 'duration', 'int', 'timestamp', 'uint', 'null', 'type'])
const isScalar = (type: Type): boolean =>
  scalars.has(type.kind) || (isOptionalType(type) && isScalar(type.parameters[0] ?? dynType))

const isBinding = ({ range, condition, accumulator }: Comprehension): boolean =>
  range.kind === 'list' &&
  range.elements.length === 0 &&
  condition.kind === 'literal' &&
  condition.value === false &&
  accumulator !== accumulatorVariable
