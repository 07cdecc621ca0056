/** The compiled rules of one schema, with the errors of invalid ones. */
import type { StructuralSchema, ValidationRule } from '../../machinery/structural-schema/index.ts'
import { type Compiled, type Environment, environment, type Program } from '../index.ts'
import { kubernetesLibraries } from '../libraries/index.ts'
import { optionalType, type Type } from '../types.ts'
import { normalizedFieldPath } from './field-path.ts'

export interface CompiledRule {
  readonly rule: ValidationRule
  /** Undefined for empty or invalid rules. */
  readonly program?: Program
  readonly fault?: string
  /** True for a transition rule, which compares with the old value. */
  readonly usesOldSelf: boolean
  readonly message?: Program
  readonly messageFault?: string
  /** The path of its errors below the value. Empty: the value itself. */
  readonly fieldPath: string
}

/** The name of the type of `self`. */
export const selfTypeName = 'selfType'

/** Compiles the rules of a schema for values of `type`. */
export function compiledRules(schema: StructuralSchema, type: Type): readonly CompiledRule[] {
  const rules = schema.keywords['x-kubernetes-validations'] ?? []
  const plain = lazily(() => base().extend({ variables: { self: type, oldSelf: type }, sizes: type }))
  const optional = lazily(() => base().extend({ variables: { self: type, oldSelf: optionalType(type) }, sizes: type }))
  return rules.map((rule) => compiledRule(rule, rule.optionalOldSelf ? optional : plain, schema))
}

const base = lazily(() => environment({ libraries: kubernetesLibraries }))

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

function compiledRule(rule: ValidationRule, rules: () => Environment, schema: StructuralSchema): CompiledRule {
  const fieldPath = rule.fieldPath ? (normalizedFieldPath(rule.fieldPath, schema) ?? '') : ''
  const none: CompiledRule = { rule, usesOldSelf: false, fieldPath }
  if (!rule.rule || rule.rule.trim() === '') return none
  const made = compiledAs(
    rules().compile(rule.rule),
    'bool',
    'compilation failed: ',
    'cel expression must evaluate to a bool',
  )
  if (typeof made === 'string') return { ...none, fault: made }
  const compiled: CompiledRule = { ...none, program: made, usesOldSelf: made.variables.has('oldSelf') }
  if (!rule.messageExpression) return compiled
  const message = compiledAs(
    rules().compile(rule.messageExpression),
    'string',
    'messageExpression compilation failed: ',
    'messageExpression must evaluate to a string',
  )
  return typeof message === 'string' ? { ...compiled, messageFault: message } : { ...compiled, message }
}

function compiledAs(compiled: Compiled, kind: Type['kind'], failed: string, mistyped: string): Program | string {
  if (!('program' in compiled)) return failed + compiled.errors
  return compiled.program.type.kind === kind ? compiled.program : mistyped
}
