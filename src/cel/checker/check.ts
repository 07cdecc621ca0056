/** The type checker: resolves every name and call, and finds the type of every node. The messages are cel-go's. */
import type { Overload } from '../library.ts'
import type { Call, Comprehension, CreateList, CreateMap, CreateStruct, Expr, Select } from '../syntax/ast.ts'
import type { Issue } from '../syntax/issues.ts'
import {
  boolType,
  bytesType,
  doubleType,
  dynType,
  errorType,
  formatType,
  intType,
  isOptionalType,
  listType,
  mapType,
  nullType,
  optionalType,
  runtimeTypeName,
  stringType,
  type Type,
  typeParameter,
  uintType,
} from '../types.ts'
import { UInt, type Value } from '../values.ts'
import type { Declaration, Declarations } from './declarations.ts'
import { assignable, type Bindings, isDynamic, moreGeneral, sameType, substitute } from './unify.ts'

export interface Checked {
  readonly type: Type
  readonly types: ReadonlyMap<number, Type>
  /** The references of identifiers, and of selections that are one qualified name, by node id. */
  readonly names: ReadonlyMap<number, Reference>
  /** The possible overloads of calls, by node id. */
  readonly calls: ReadonlyMap<number, ResolvedCall>
}

export interface Reference {
  readonly name: string
  readonly declaration: Declaration
  /** True for a variable of a comprehension or a binding, false for one of the environment. */
  readonly local: boolean
}

export interface ResolvedCall {
  readonly overloads: readonly Overload[]
  /** All arguments; the target of a member call is the first. */
  readonly arguments: readonly Expr[]
}

/** Checks `expr`. Returns the types and references, or the errors. */
export function check(expr: Expr, declarations: Declarations): Checked | { readonly issues: readonly Issue[] } {
  const checker = new Checker(declarations)
  const type = checker.check(expr)
  if (checker.issues.length > 0) return { issues: checker.issues }
  return { type: checker.close(type), types: checker.closedTypes(), names: checker.names, calls: checker.calls }
}

class Checker {
  readonly issues: Issue[] = []
  readonly names = new Map<number, Reference>()
  readonly calls = new Map<number, ResolvedCall>()
  private readonly types = new Map<number, Type>()
  private readonly bindings: Bindings = new Map()
  private readonly scopes: Map<string, Type>[] = []
  private readonly declarations: Declarations
  private fresh = 0

  constructor(declarations: Declarations) {
    this.declarations = declarations
  }

  close(type: Type): Type {
    return substitute(this.bindings, type, true)
  }

  closedTypes(): Map<number, Type> {
    return new Map([...this.types].map(([id, type]) => [id, this.close(type)]))
  }

  check(expr: Expr): Type {
    const type = this.typeOf(expr)
    this.types.set(expr.id, type)
    return type
  }

  private issue(at: Expr, message: string): Type {
    this.issues.push({ message, position: at.position })
    return errorType
  }

  private typeOf(expr: Expr): Type {
    switch (expr.kind) {
      case 'literal':
        return literalType(expr.value)
      case 'identifier':
        return this.name(expr, expr.name) ?? this.undeclared(expr, expr.name)
      case 'select':
        return this.select(expr)
      case 'call':
        return this.call(expr)
      case 'list':
        return this.list(expr)
      case 'map':
        return this.map(expr)
      case 'struct':
        return this.struct(expr)
      case 'comprehension':
        return this.comprehension(expr)
      default:
        return expr satisfies never
    }
  }

  private undeclared(at: Expr, name: string): Type {
    return this.issue(at, `undeclared reference to '${name.replace(/^\./, '')}' (in container '')`)
  }

  /** Resolves a name and records the reference. Returns undefined if the name is not declared. */
  private name(at: Expr, name: string): Type | undefined {
    const local = this.scopes.findLast((scope) => scope.has(name))?.get(name)
    const declaration = local ? { type: local } : this.declarations.names.get(name.replace(/^\./, ''))
    if (!declaration) return undefined
    this.names.set(at.id, { name: name.replace(/^\./, ''), declaration, local: local !== undefined })
    return declaration.type
  }

  private select(expr: Select): Type {
    const qualified = expr.testOnly ? undefined : qualifiedName(expr)
    if (qualified !== undefined && !this.isLocal(qualified)) {
      const known = this.name(expr, qualified)
      if (known) return known
    }
    const operand = this.resolved(this.check(expr.operand))
    const inner = isOptionalType(operand) ? this.resolved(operand.parameters[0] ?? dynType) : operand
    const field = this.field(expr, inner, expr.field)
    if (expr.testOnly) return boolType
    return isOptionalType(operand) ? optionalType(field) : field
  }

  /** Returns true if the first part of a dotted name is a variable of a comprehension. */
  private isLocal(name: string): boolean {
    const [first = ''] = name.split('.')
    return this.scopes.some((scope) => scope.has(first))
  }

  private resolved(type: Type): Type {
    return substitute(this.bindings, type)
  }

  private field(at: Expr, type: Type, name: string): Type {
    switch (type.kind) {
      case 'map':
        return type.value
      case 'object':
        return type.fields.get(name)?.type ?? this.issue(at, `undefined field '${name}'`)
      case 'parameter':
        assignable(this.bindings, [dynType], [type])
        return dynType
      case 'dyn':
      case 'error':
        return dynType
      default:
        return this.issue(at, `type '${formatType(this.resolved(type))}' does not support field selection`)
    }
  }

  private call(expr: Call): Type {
    if (expr.function === '_?._') return this.optionalSelect(expr)
    const { target } = expr
    const qualifier = target && qualifiedName(target)
    if (qualifier !== undefined && !this.isLocal(qualifier)) {
      const namespaced = this.declarations.functions.get(`${qualifier.replace(/^\./, '')}.${expr.function}`)
      if (namespaced) return this.overload(expr, `${qualifier}.${expr.function}`, namespaced, expr.arguments, false)
    }
    const overloads = this.declarations.functions.get(expr.function.replace(/^\./, ''))
    const args = target ? [target, ...expr.arguments] : expr.arguments
    if (!overloads) {
      for (const argument of args) this.check(argument)
      return this.undeclared(expr, expr.function)
    }
    return this.overload(expr, expr.function, overloads, args, target !== undefined)
  }

  private overload(
    expr: Call,
    name: string,
    overloads: readonly Overload[],
    args: readonly Expr[],
    member: boolean,
  ): Type {
    const types = args.map((argument) => this.check(argument))
    const found: Overload[] = []
    let result: Type | undefined
    for (const overload of overloads) {
      if ((overload.member ?? false) !== member || overload.parameters.length !== args.length) continue
      const rename: Bindings = new Map()
      const parameters = overload.parameters.map((parameter) => this.instantiate(parameter, rename))
      if (!assignable(this.bindings, types, parameters)) continue
      found.push(overload)
      const its = this.resolved(this.instantiate(overload.result, rename))
      if (!result) result = its
      else if (!isDynamic(result) && !sameType(result, its)) result = dynType
    }
    if (!result) {
      const shown = types.map((type) => formatType(this.close(type)))
      const signature = member ? `${shown[0]}.(${shown.slice(1).join(', ')})` : `(${shown.join(', ')})`
      return this.issue(expr, `found no matching overload for '${name}' applied to '${signature}'`)
    }
    this.calls.set(expr.id, { overloads: found, arguments: args })
    return result
  }

  /** Replaces the type parameters of a signature by fresh ones for this call. */
  private instantiate(type: Type, rename: Bindings): Type {
    switch (type.kind) {
      case 'parameter': {
        const known = rename.get(type.name) ?? this.unknown()
        rename.set(type.name, known)
        return known
      }
      case 'list':
        return listType(this.instantiate(type.element, rename))
      case 'map':
        return mapType(this.instantiate(type.key, rename), this.instantiate(type.value, rename))
      case 'opaque':
        return type.parameters.length === 0
          ? type
          : { ...type, parameters: type.parameters.map((parameter) => this.instantiate(parameter, rename)) }
      case 'type':
        return { kind: 'type', of: this.instantiate(type.of, rename) }
      default:
        return type
    }
  }

  private unknown(): Type {
    return typeParameter(`_var${this.fresh++}`)
  }

  private optionalSelect(expr: Call): Type {
    const [operand, field] = expr.arguments
    if (!operand || field?.kind !== 'literal' || typeof field.value !== 'string')
      return this.issue(expr, 'unsupported optional field selection')
    this.check(field)
    const type = this.resolved(this.check(operand))
    const inner = isOptionalType(type) ? this.resolved(type.parameters[0] ?? dynType) : type
    return optionalType(this.field(expr, inner, field.value))
  }

  private list(expr: CreateList): Type {
    let element: Type | undefined
    for (const [index, item] of expr.elements.entries()) {
      let type = this.check(item)
      if (expr.optional.has(index)) type = this.unwrapped(item, type)
      element = this.join(element, type)
    }
    return listType(element ?? this.unknown())
  }

  private map(expr: CreateMap): Type {
    let key: Type | undefined
    let value: Type | undefined
    for (const entry of expr.entries) {
      key = this.join(key, this.check(entry.key))
      const type = this.check(entry.value)
      value = this.join(value, entry.optional ? this.unwrapped(entry.value, type) : type)
    }
    return mapType(key ?? this.unknown(), value ?? this.unknown())
  }

  private unwrapped(at: Expr, type: Type): Type {
    const found = this.resolved(type)
    if (isOptionalType(found)) return found.parameters[0] ?? dynType
    return isDynamic(found)
      ? dynType
      : this.issue(at, `expected type 'optional_type(dyn)' but found '${formatType(this.close(found))}'`)
  }

  /** Returns the common type of elements. Mixed types are rejected in literals.ts. */
  private join(previous: Type | undefined, next: Type): Type {
    if (!previous) return next
    return assignable(this.bindings, [next], [previous]) ? moreGeneral(previous, next) : dynType
  }

  private struct(expr: CreateStruct): Type {
    const object = this.declarations.objects.get(expr.typeName.replace(/^\./, ''))
    if (!object) {
      const named = this.declarations.names.get(expr.typeName)?.type
      if (!named) return this.undeclared(expr, expr.typeName)
      for (const { value } of expr.entries) this.check(value)
      return this.issue(
        expr,
        named.kind === 'type'
          ? `'${runtimeTypeName(named.of)}' is not a message type`
          : `'${runtimeTypeName(named)}' is not a type`,
      )
    }
    for (const { field, value, optional, position } of expr.entries) {
      const given = optional ? this.unwrapped(value, this.check(value)) : this.check(value)
      const declared = object.fields.get(field)?.type
      if (!declared) this.issues.push({ message: `undefined field '${field}'`, position })
      else if (!assignable(this.bindings, [given], [declared]))
        this.issues.push({
          message:
            `expected type of field '${field}' is '${formatType(declared)}' but provided type is ` +
            `'${formatType(this.close(given))}'`,
          position,
        })
    }
    return object
  }

  private comprehension(expr: Comprehension): Type {
    const range = this.resolved(this.check(expr.range))
    const accumulator = this.check(expr.initial)
    const [first, second] = this.elements(expr, range)
    const scope = new Map([[expr.accumulator, accumulator]])
    this.scopes.push(scope)
    const inner = new Map([[expr.variable, first]])
    if (expr.variable2 !== undefined) inner.set(expr.variable2, second)
    this.scopes.push(inner)
    this.mustBe(expr.condition, boolType)
    this.mustBe(expr.step, accumulator)
    this.scopes.pop()
    const result = this.check(expr.result)
    this.scopes.pop()
    return this.resolved(result)
  }

  /** Returns the types of both variables. With one variable, the first applies. */
  private elements(expr: Comprehension, range: Type): readonly [Type, Type] {
    const two = expr.variable2 !== undefined
    switch (range.kind) {
      case 'list':
        return two ? [intType, range.element] : [range.element, dynType]
      case 'map':
        return [range.key, range.value]
      case 'parameter':
        assignable(this.bindings, [dynType], [range])
        return [dynType, dynType]
      case 'dyn':
      case 'error':
        return [dynType, dynType]
      default:
        this.issue(
          expr.range,
          `expression of type '${formatType(this.close(range))}' cannot be range of a comprehension (must be ` +
            'list, map, or dynamic)',
        )
        return [errorType, errorType]
    }
  }

  private mustBe(expr: Expr, type: Type): void {
    const found = this.check(expr)
    if (!assignable(this.bindings, [found], [type]))
      this.issue(expr, `expected type '${formatType(this.close(type))}' but found '${formatType(this.close(found))}'`)
  }
}

function literalType(value: Value): Type {
  if (value === null) return nullType
  if (typeof value === 'boolean') return boolType
  if (typeof value === 'bigint') return intType
  if (typeof value === 'number') return doubleType
  if (typeof value === 'string') return stringType
  if (value instanceof UInt) return uintType
  return value instanceof Uint8Array ? bytesType : dynType
}

/** Returns `a.b.c` if the expression consists of names and dots only. */
function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === 'identifier') return expr.name
  if (expr.kind !== 'select' || expr.testOnly) return undefined
  const operand = qualifiedName(expr.operand)
  return operand === undefined ? undefined : `${operand}.${expr.field}`
}
