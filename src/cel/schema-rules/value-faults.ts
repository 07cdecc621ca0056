/** Evaluates the rules of a schema for values, in upstream's order and with its cost limits and messages. */
import { isObject, sortMembers } from '../../machinery/fields/json.ts'
import {
  correlatedItems,
  none,
  type StructuralSchema,
  type ValidationRule,
} from '../../machinery/structural-schema/index.ts'
import { limitFaults } from '../../machinery/validation/fault-limit.ts'
import {
  duplicate,
  type FieldError,
  fieldError,
  forbiddenField,
  invalidValue,
  required,
} from '../../machinery/validation/field-error.ts'
import { adapt, type Bindings, callCostLimit } from '../index.ts'
import { OptionalValue } from '../values.ts'
import { type EvaluatedRule, type NodeRules, RuleNode } from './rule-node.ts'
import { ValueLocation } from './value-location.ts'

/** The cost limit for the rules of one object. */
const objectCostLimit = 10_000_000
const maxMessageBytes = 5 * 1024

/** The rules of a schema. They are compiled on first use. */
export class SchemaRules {
  private readonly root: RuleNode

  /** `resource` is true if the objects are whole resources. */
  constructor(schema: StructuralSchema, resource: boolean) {
    this.root = new RuleNode(schema, resource)
  }

  /**
   * Returns the errors of an object. `old` is the old object. Errors that are ignored because the value has not changed
   * are passed to `onIgnored`.
   */
  faults(object: unknown, old?: unknown, onIgnored?: (fault: string) => void): FieldError[] {
    const run = new Run(objectCostLimit, onIgnored)
    run.visit(this.root, ValueLocation.root(object, this.root.schema, '', old ?? none), old)
    return run.faults
  }

  /** Returns the errors of a default at `path`. It is its own old value. */
  defaultFaults(value: unknown, path: string): FieldError[] {
    const run = new Run(objectCostLimit)
    run.visit(this.root, ValueLocation.root(value, this.root.schema, path, none), value)
    return run.faults
  }
}

/** One walk over an object. Methods return false if the budget is exhausted, which stops the evaluation. */
class Run {
  readonly faults: FieldError[] = []
  private budget: number
  private readonly onIgnored: ((fault: string) => void) | undefined

  constructor(budget: number, onIgnored?: (fault: string) => void) {
    this.budget = budget
    this.onIgnored = onIgnored
  }

  /** `old` is undefined or null if there is no old value, or it cannot be correlated. */
  visit(node: RuleNode, place: ValueLocation, old: unknown): boolean {
    const { value } = place
    // Rules of parents may require a value; its own rules are not evaluated without one.
    if (value === null || value === undefined) return true
    const { rules } = node
    if (rules && rules.rules.length > 0 && !this.evaluateAll(rules, place, old ?? undefined)) return false
    if (Array.isArray(value)) return this.visitItems(node, place, value, old)
    return !isObject(value) || this.visitMembers(node, place, value, old)
  }

  private visitItems(
    { items, schema }: RuleNode,
    parent: ValueLocation,
    values: readonly unknown[],
    old: unknown,
  ): boolean {
    if (!items) return true
    const find = correlatedItems(old, schema)
    for (let index = 0; index < values.length; index++) {
      const value = values[index]
      const before = find?.(value)
      if (!this.visit(items, parent.below(`[${index}]`, value, items.schema), before === none ? undefined : before))
        return false
    }
    return true
  }

  private visitMembers(
    { others, properties }: RuleNode,
    parent: ValueLocation,
    object: Record<string, unknown>,
    old: unknown,
  ): boolean {
    const oldObject = isObject(old) ? old : undefined
    const before = (name: string): unknown =>
      oldObject && Object.hasOwn(oldObject, name) ? oldObject[name] : undefined
    if (others)
      for (const name in object)
        if (!this.visit(others, parent.below(`[${name}]`, object[name], others.schema), before(name))) return false
    if (properties)
      for (const [name, node] of properties)
        if (
          Object.hasOwn(object, name) &&
          !this.visit(node, parent.below(`.${name}`, object[name], node.schema), before(name))
        )
          return false
    return true
  }

  private evaluateAll(
    { type, rules, usesOldSelf, hasOptionalOldSelf }: NodeRules,
    place: ValueLocation,
    old: unknown,
  ): boolean {
    if (this.budget <= 0) return this.failExhausted(place)
    const oldSelf = usesOldSelf && old !== undefined ? adapt(old, type) : undefined
    const bindings: Bindings = { self: adapt(place.value, type), oldSelf }
    const optional: Bindings = hasOptionalOldSelf
      ? { ...bindings, oldSelf: oldSelf === undefined ? OptionalValue.none : new OptionalValue(oldSelf) }
      : bindings
    for (const compiled of rules) {
      if (compiled.fault !== undefined) this.addInvalid(place, `rule compile error: ${compiled.fault}`)
      // Transition rules need an old value.
      const isSkipped = compiled.usesOldSelf && old === undefined && !compiled.rule.optionalOldSelf
      if (!isSkipped && !this.evaluate(compiled, place, compiled.rule.optionalOldSelf ? optional : bindings, bindings))
        return false
    }
    return true
  }

  private evaluate(
    compiled: EvaluatedRule,
    place: ValueLocation,
    bindings: Bindings,
    messageBindings: Bindings,
  ): boolean {
    const { evaluate, rule } = compiled
    if (!evaluate) return true
    const outcome = evaluate(bindings, callCostLimit)
    if (outcome.cost > this.budget) return this.failExhausted(place)
    this.budget -= outcome.cost
    if ('error' in outcome) {
      if (outcome.exceeded) {
        this.addInvalid(
          place,
          `'${outcome.error}': no further validation rules will be run due to call cost exceeds limit for rule: ` +
            `${shownRule(rule)}`,
        )
        return false
      }
      const mistyped = outcome.error.startsWith('no such overload')
      const mismatch =
        `'${outcome.error}': call arguments did not match a supported operator, function or macro signature for ` +
        `rule: ${shownRule(rule)}`
      this.addInvalid(place, mistyped ? mismatch : `${outcome.error} evaluating rule: ${shownRule(rule)}`)
      return true
    }
    return outcome.value === true || this.addFailure(compiled, place, messageBindings)
  }

  /** Adds the error of a failed rule, unless the value has not changed. */
  private addFailure(compiled: EvaluatedRule, place: ValueLocation, bindings: Bindings): boolean {
    const { rule, usesOldSelf, fieldPath } = compiled
    const message = this.messageOf(compiled, bindings)
    const { path } = place
    const field = fieldPath === '' ? path || '<nil>' : path === '' ? fieldPath : `${path}.${fieldPath}`
    const fault = (): FieldError =>
      typeof message === 'string'
        ? faultFor(rule.reason, field, place, message)
        : invalidValue(field, place.schema.type, message.exceeds)
    if (usesOldSelf || !place.isUnchanged()) this.faults.push(fault())
    // Ignored errors do not count towards the limit of errors.
    else if (this.onIgnored)
      for (const { field, message } of limitFaults(() => [fault()])) this.onIgnored(`${field}: ${message}`)
    return typeof message === 'string'
  }

  /** Returns the message of a failed rule, or an object if the message expression exceeded its cost limit. */
  private messageOf({ rule, message }: EvaluatedRule, bindings: Bindings): string | { readonly exceeds: string } {
    const plain = rule.message ? rule.message.trim() : `failed rule: ${shownRule(rule)}`
    if (!message) return plain
    const outcome = message(bindings, callCostLimit)
    if (outcome.cost > this.budget)
      return {
        exceeds:
          'messageExpression evaluation failed due to running out of cost budget, no further validation rules ' +
          'will be run',
      }
    if ('error' in outcome && outcome.exceeded)
      return {
        exceeds:
          'no further validation rules will be run due to call cost exceeds limit for messageExpression: ' +
          `${JSON.stringify(rule.messageExpression)}`,
      }
    this.budget -= outcome.cost
    const text = 'value' in outcome && typeof outcome.value === 'string' ? outcome.value.trim() : ''
    return text === '' || text.includes('\n') || Buffer.byteLength(text) > maxMessageBytes ? plain : text
  }

  private failExhausted(place: ValueLocation): false {
    this.addInvalid(
      place,
      'validation failed due to running out of cost budget, no further validation rules will be run',
    )
    return false
  }

  private addInvalid(place: ValueLocation, detail: string): void {
    this.faults.push(invalidValue(place.path || '<nil>', place.schema.type, detail))
  }
}

const shownRule = ({ rule, message }: ValidationRule): string => (message || rule).trim()

/** Creates the error of a failed rule. It shows scalars, but not objects and arrays. */
function faultFor(
  reason: string | undefined,
  field: string,
  { value, schema }: ValueLocation,
  detail: string,
): FieldError {
  const isShown = schema.type !== 'object' && schema.type !== 'array'
  switch (reason) {
    case 'FieldValueForbidden':
      return forbiddenField(field, detail)
    case 'FieldValueRequired':
      return required(field, detail)
    case 'FieldValueDuplicate':
      return isShown
        ? duplicate(field, sortMembers(value))
        : fieldError('FieldValueDuplicate', field, 'Duplicate value')
    default:
      return isShown
        ? invalidValue(field, sortMembers(value), detail)
        : fieldError('FieldValueInvalid', field, `Invalid value: ${detail}`)
  }
}
