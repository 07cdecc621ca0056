/**
 * Variables that a policy defines: `variables.x`. Each is evaluated on first use, and may use the variables before it.
 */
import type { Environment } from '../environment.ts'
import type { Bindings } from '../program.ts'
import { dynType, type Field, type ObjectType, type Type } from '../types.ts'
import { CelError, CelMap, type Value } from '../values.ts'
import { compileExpression, type Expression } from './expression.ts'

export interface NamedExpression {
  readonly name: string
  readonly expression: string
}

export interface Variables {
  /** The type of `variables`. */
  readonly type: ObjectType
  readonly compiled: ReadonlyMap<string, Expression>
}

/** Compiles variables one after the other. `environment` must not have `variables` yet. */
export function compileVariables(environment: Environment, variables: readonly NamedExpression[] = []): Variables {
  const fields = new Map<string, Field>()
  const type: ObjectType = { kind: 'object', name: 'kubernetes.variables', fields }
  const compiled = new Map<string, Expression>()
  const withVariablesSoFar = withVariables(environment, type)
  for (const { name, expression } of variables) {
    const made = compileExpression(withVariablesSoFar, expression)
    compiled.set(name, made)
    fields.set(name, { type: made.program ? toDeclaredType(made.program.type) : dynType })
  }
  return { type, compiled }
}

export const withVariables = (environment: Environment, variables: Type): Environment =>
  environment.extend({ variables: { variables } })

/** Replaces the types of objects, opaque values and types by dyn: they are checked at run time only. */
function toDeclaredType(type: Type): Type {
  switch (type.kind) {
    case 'list':
      return { kind: 'list', element: toDeclaredType(type.element) }
    case 'map':
      return { kind: 'map', key: toDeclaredType(type.key), value: toDeclaredType(type.value) }
    case 'object':
    case 'opaque':
    case 'type':
    case 'parameter':
      return dynType
    default:
      return type
  }
}

/** The value of `variables` during one evaluation. */
export class VariableValues extends CelMap {
  override readonly objectType: ObjectType
  /** The cost of evaluations since the last takeCost. */
  #cost = 0
  readonly #compiled: Variables['compiled']
  readonly #bindings: Bindings
  readonly #withVariablesSoFar = new Map<string, Value | CelError>()

  constructor({ type, compiled }: Variables, bindings: Bindings) {
    super()
    this.objectType = type
    this.#compiled = compiled
    this.#bindings = { ...bindings, variables: this }
  }
  get bindings(): Bindings {
    return this.#bindings
  }
  takeCost(): number {
    const cost = this.#cost
    this.#cost = 0
    return cost
  }
  get size(): number {
    return this.#compiled.size
  }
  keys(): Iterable<Value> {
    return this.#compiled.keys()
  }
  get(key: Value): Value | undefined {
    if (typeof key !== 'string') return undefined
    const expression = this.#compiled.get(key)
    if (!expression) return undefined
    let value = this.#withVariablesSoFar.get(key)
    if (value === undefined) this.#withVariablesSoFar.set(key, (value = this.#evaluate(key, expression)))
    if (value instanceof CelError) throw value
    return value
  }

  #evaluate(name: string, { program, fault }: Expression): Value | CelError {
    if (!program) return new CelError(`composited variable ${JSON.stringify(name)} fails to compile: ${fault}`)
    const outcome = program.evaluate(this.#bindings)
    this.#cost += outcome.cost
    return 'error' in outcome
      ? new CelError(`composited variable ${JSON.stringify(name)} fails to evaluate: ${outcome.error}`)
      : outcome.value
  }
}
