/**
 * Holds values against the rules of their schema: what is evaluated in which order, what it may cost, and what is told.
 */
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
import { Place } from './place.ts'
import { type EvaluatedRule, type NodeRules, RuleNode } from './rule-node.ts'

/** The most that the rules of one object may cost. */
const objectCostLimit = 10_000_000
const longestMessageBytes = 5 * 1024

/** The rules of a schema; compiled as values need them. */
export class SchemaRules {
  private readonly root: RuleNode

  /** `resource`: objects are whole resources. */
  constructor(schema: StructuralSchema, resource: boolean) {
    this.root = new RuleNode(schema, resource)
  }

  /**
   * What rules say of an object. `old` is the object that it replaces; what is let through, because it was so before,
   * is told to `letThrough`.
   */
  faults(object: unknown, old?: unknown, letThrough?: (fault: string) => void): FieldError[] {
    const run = new Run(objectCostLimit, letThrough)
    run.visit(this.root, Place.root(object, this.root.schema, '', old ?? none), old)
    return run.faults
  }

  /** What rules say of a default at `path`: it replaces itself. */
  defaultFaults(value: unknown, path: string): FieldError[] {
    const run = new Run(objectCostLimit)
    run.visit(this.root, Place.root(value, this.root.schema, path, none), value)
    return run.faults
  }
}

/** One walk over an object. Methods answer false when the budget is used up: nothing more is evaluated then. */
class Run {
  readonly faults: FieldError[] = []
  private budget: number
  private readonly letThrough: ((fault: string) => void) | undefined

  constructor(budget: number, letThrough?: (fault: string) => void) {
    this.budget = budget
    this.letThrough = letThrough
  }

  /** `old` is undefined, or null, where there was no value, or it cannot be told which it was. */
  visit(node: RuleNode, place: Place, old: unknown): boolean {
    const { value } = place
    // Whether a value is there is for the rules around it to say.
    if (value === null || value === undefined) return true
    const { rules } = node
    if (rules && rules.rules.length > 0 && !this.evaluateAll(rules, place, old ?? undefined)) return false
    if (Array.isArray(value)) return this.visitItems(node, place, value, old)
    return !isObject(value) || this.visitMembers(node, place, value, old)
  }

  private visitItems({ items, schema }: RuleNode, parent: Place, values: readonly unknown[], old: unknown): boolean {
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
    parent: Place,
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
    place: Place,
    old: unknown,
  ): boolean {
    if (this.budget <= 0) return this.exhausted(place)
    const oldSelf = usesOldSelf && old !== undefined ? adapt(old, type) : undefined
    const bindings: Bindings = { self: adapt(place.value, type), oldSelf }
    const optional: Bindings = hasOptionalOldSelf
      ? { ...bindings, oldSelf: oldSelf === undefined ? OptionalValue.none : new OptionalValue(oldSelf) }
      : bindings
    for (const compiled of rules) {
      if (compiled.fault !== undefined) this.invalid(place, `rule compile error: ${compiled.fault}`)
      // Transition rules want a value to compare with.
      const idle = compiled.usesOldSelf && old === undefined && !compiled.rule.optionalOldSelf
      if (!idle && !this.evaluate(compiled, place, compiled.rule.optionalOldSelf ? optional : bindings, bindings))
        return false
    }
    return true
  }

  private evaluate(compiled: EvaluatedRule, place: Place, bindings: Bindings, messageBindings: Bindings): boolean {
    const { evaluate, rule } = compiled
    if (!evaluate) return true
    const outcome = evaluate(bindings, callCostLimit)
    if (outcome.cost > this.budget) return this.exhausted(place)
    this.budget -= outcome.cost
    if ('error' in outcome) {
      if (outcome.exceeded) {
        this.invalid(
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
      this.invalid(place, mistyped ? mismatch : `${outcome.error} evaluating rule: ${shownRule(rule)}`)
      return true
    }
    return outcome.value === true || this.broken(compiled, place, messageBindings)
  }

  /** Tells that a rule does not hold, unless it did not before either and nothing has changed. */
  private broken(compiled: EvaluatedRule, place: Place, bindings: Bindings): boolean {
    const { rule, usesOldSelf, fieldPath } = compiled
    const message = this.message(compiled, bindings)
    const { path } = place
    const field = fieldPath === '' ? path || '<nil>' : path === '' ? fieldPath : `${path}.${fieldPath}`
    const fault = (): FieldError =>
      typeof message === 'string'
        ? faultFor(rule.reason, field, place, message)
        : invalidValue(field, place.schema.type, message.exceeds)
    if (usesOldSelf || !place.isAsBefore()) this.faults.push(fault())
    // Faults that nobody is told do not count among those that are.
    else if (this.letThrough)
      for (const told of limitFaults(() => [fault()])) this.letThrough(`${told.field}: ${told.message}`)
    return typeof message === 'string'
  }

  /** What is told of a broken rule; an object if making the message cost too much. */
  private message({ rule, message }: EvaluatedRule, bindings: Bindings): string | { readonly exceeds: string } {
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
    return text === '' || text.includes('\n') || Buffer.byteLength(text) > longestMessageBytes ? plain : text
  }

  private exhausted(place: Place): false {
    this.invalid(place, 'validation failed due to running out of cost budget, no further validation rules will be run')
    return false
  }

  private invalid(place: Place, detail: string): void {
    this.faults.push(invalidValue(place.path || '<nil>', place.schema.type, detail))
  }
}

const shownRule = ({ rule, message }: ValidationRule): string => (message || rule).trim()

/** Scalars are shown; of objects and arrays only what the rule says. */
function faultFor(reason: string | undefined, field: string, { value, schema }: Place, detail: string): FieldError {
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
