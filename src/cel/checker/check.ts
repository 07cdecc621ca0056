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

  private addIssue(at: Expr, message: string): Type {
    this.issues.push({ message, position: at.position })
    return errorType
  }

  private typeOf(expr: Expr): Type {
    switch (expr.kind) {
      case 'literal':
        return literalType(expr.value)
      case 'identifier':
        return this.resolveName(expr, expr.name) ?? this.addUndeclared(expr, expr.name)
      case 'select':
        return this.checkSelect(expr)
      case 'call':
        return this.checkCall(expr)
      case 'list':
        return this.checkList(expr)
      case 'map':
        return this.checkMap(expr)
      case 'struct':
        return this.checkStruct(expr)
      case 'comprehension':
        return this.checkComprehension(expr)
      default:
        return expr satisfies never
    }
  }

  private addUndeclared(at: Expr, name: string): Type {
    return this.addIssue(at, `undeclared reference to '${name.replace(/^\./, '')}' (in container '')`)
  }

  /** Resolves a name and records the reference. Returns undefined if the name is not declared. */
  private resolveName(at: Expr, name: string): Type | undefined {
    const local = this.scopes.findLast((scope) => scope.has(name))?.get(name)
    const declaration = local ? { type: local } : this.declarations.names.get(name.replace(/^\./, ''))
    if (!declaration) return undefined
    this.names.set(at.id, { name: name.replace(/^\./, ''), declaration, local: local !== undefined })
    return declaration.type
  }

  private checkSelect(expr: Select): Type {
    const qualified = expr.testOnly ? undefined : qualifiedName(expr)
    if (qualified !== undefined && !this.isLocal(qualified)) {
      const known = this.resolveName(expr, qualified)
      if (known) return known
    }
    const operand = this.substituted(this.check(expr.operand))
    const inner = isOptionalType(operand) ? this.substituted(operand.parameters[0] ?? dynType) : operand
    const field = this.resolveField(expr, inner, expr.field)
    if (expr.testOnly) return boolType
    return isOptionalType(operand) ? optionalType(field) : field
  }

  /** Returns true if the first part of a dotted name is a variable of a comprehension. */
  private isLocal(name: string): boolean {
    const [first = ''] = name.split('.')
    return this.scopes.some((scope) => scope.has(first))
  }

  private substituted(type: Type): Type {
    return substitute(this.bindings, type)
  }

  private resolveField(at: Expr, type: Type, name: string): Type {
    switch (type.kind) {
      case 'map':
        return type.value
      case 'object':
        return type.fields.get(name)?.type ?? this.addIssue(at, `undefined field '${name}'`)
      case 'parameter':
        assignable(this.bindings, [dynType], [type])
        return dynType
      case 'dyn':
      case 'error':
        return dynType
      default:
        return this.addIssue(at, `type '${formatType(this.substituted(type))}' does not support field selection`)
    }
  }

  private checkCall(expr: Call): Type {
    if (expr.function === '_?._') return this.checkOptionalSelect(expr)
    const { target } = expr
    const qualifier = target && qualifiedName(target)
    if (qualifier !== undefined && !this.isLocal(qualifier)) {
      const namespaced = this.declarations.functions.get(`${qualifier.replace(/^\./, '')}.${expr.function}`)
      if (namespaced)
        return this.resolveOverload(expr, `${qualifier}.${expr.function}`, namespaced, expr.arguments, false)
    }
    const overloads = this.declarations.functions.get(expr.function.replace(/^\./, ''))
    const args = target ? [target, ...expr.arguments] : expr.arguments
    if (!overloads) {
      for (const argument of args) this.check(argument)
      return this.addUndeclared(expr, expr.function)
    }
    return this.resolveOverload(expr, expr.function, overloads, args, target !== undefined)
  }

  private resolveOverload(
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
      const its = this.substituted(this.instantiate(overload.result, rename))
      if (!result) result = its
      else if (!isDynamic(result) && !sameType(result, its)) result = dynType
    }
    if (!result) {
      const shown = types.map((type) => formatType(this.close(type)))
      const signature = member ? `${shown[0]}.(${shown.slice(1).join(', ')})` : `(${shown.join(', ')})`
      return this.addIssue(expr, `found no matching overload for '${name}' applied to '${signature}'`)
    }
    this.calls.set(expr.id, { overloads: found, arguments: args })
    return result
  }

  /** Replaces the type parameters of a signature by fresh ones for this call. */
  private instantiate(type: Type, rename: Bindings): Type {
    switch (type.kind) {
      case 'parameter': {
        const known = rename.get(type.name) ?? this.createParameter()
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

  private createParameter(): Type {
    return typeParameter(`_var${this.fresh++}`)
  }

  private checkOptionalSelect(expr: Call): Type {
    const [operand, field] = expr.arguments
    if (!operand || field?.kind !== 'literal' || typeof field.value !== 'string')
      return this.addIssue(expr, 'unsupported optional field selection')
    this.check(field)
    const type = this.substituted(this.check(operand))
    const inner = isOptionalType(type) ? this.substituted(type.parameters[0] ?? dynType) : type
    return optionalType(this.resolveField(expr, inner, field.value))
  }

  private checkList(expr: CreateList): Type {
    let element: Type | undefined
    for (const [index, item] of expr.elements.entries()) {
      let type = this.check(item)
      if (expr.optional.has(index)) type = this.unwrapOptional(item, type)
      element = this.join(element, type)
    }
    return listType(element ?? this.createParameter())
  }

  private checkMap(expr: CreateMap): Type {
    let key: Type | undefined
    let value: Type | undefined
    for (const entry of expr.entries) {
      key = this.join(key, this.check(entry.key))
      const type = this.check(entry.value)
      value = this.join(value, entry.optional ? this.unwrapOptional(entry.value, type) : type)
    }
    return mapType(key ?? this.createParameter(), value ?? this.createParameter())
  }

  private unwrapOptional(at: Expr, type: Type): Type {
    const found = this.substituted(type)
    if (isOptionalType(found)) return found.parameters[0] ?? dynType
    return isDynamic(found)
      ? dynType
      : this.addIssue(at, `expected type 'optional_type(dyn)' but found '${formatType(this.close(found))}'`)
  }

  /** Returns the common type of elements. Mixed types are rejected in literals.ts. */
  private join(previous: Type | undefined, next: Type): Type {
    if (!previous) return next
    return assignable(this.bindings, [next], [previous]) ? moreGeneral(previous, next) : dynType
  }

  private checkStruct(expr: CreateStruct): Type {
    const object = this.declarations.objects.get(expr.typeName.replace(/^\./, ''))
    if (!object) {
      const named = this.declarations.names.get(expr.typeName)?.type
      if (!named) return this.addUndeclared(expr, expr.typeName)
      for (const { value } of expr.entries) this.check(value)
      return this.addIssue(
        expr,
        named.kind === 'type'
          ? `'${runtimeTypeName(named.of)}' is not a message type`
          : `'${runtimeTypeName(named)}' is not a type`,
      )
    }
    for (const { field, value, optional, position } of expr.entries) {
      const given = optional ? this.unwrapOptional(value, this.check(value)) : this.check(value)
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

  private checkComprehension(expr: Comprehension): Type {
    const range = this.substituted(this.check(expr.range))
    const accumulator = this.check(expr.initial)
    const [first, second] = this.variableTypes(expr, range)
    const scope = new Map([[expr.accumulator, accumulator]])
    this.scopes.push(scope)
    const inner = new Map([[expr.variable, first]])
    if (expr.variable2 !== undefined) inner.set(expr.variable2, second)
    this.scopes.push(inner)
    this.expectType(expr.condition, boolType)
    this.expectType(expr.step, accumulator)
    this.scopes.pop()
    const result = this.check(expr.result)
    this.scopes.pop()
    return this.substituted(result)
  }

  /** Returns the types of both variables. With one variable, the first applies. */
  private variableTypes(expr: Comprehension, range: Type): readonly [Type, Type] {
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
        this.addIssue(
          expr.range,
          `expression of type '${formatType(this.close(range))}' cannot be range of a comprehension (must be ` +
            'list, map, or dynamic)',
        )
        return [errorType, errorType]
    }
  }

  private expectType(expr: Expr, type: Type): void {
    const found = this.check(expr)
    if (!assignable(this.bindings, [found], [type]))
      this.addIssue(
        expr,
        `expected type '${formatType(this.close(type))}' but found '${formatType(this.close(found))}'`,
      )
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
