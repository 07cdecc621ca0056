/** What is wrong with the rules of a schema when it is defined: they do not compile, or may cost too much. */
import {
  anySchema,
  itemsOf,
  othersOf,
  propertiesOf,
  type SchemaSource,
  type StructuralSchema,
  structuralSchemas,
  type ValidationRule,
} from '../../machinery/structural-schema/index.ts'
import { type FieldError, fieldError, forbiddenField, invalidValue } from '../../machinery/validation/field-error.ts'
import type { Type } from '../types.ts'
import { type CompiledRule, compiledRules, selfTypeName } from './compiled-rule.ts'
import { declaredType, leastBytes, maxRequestBytes } from './declared-type.ts'

/** The most that a rule, times how often its value can occur, may cost by estimate. */
const ruleCostLimit = 10_000_000
/** The most for all rules and messages of a schema. */
const totalCostLimit = 100_000_000
/** So many of the dearest rules are told. */
const mostDear = 4
/** Where Go's counting ends. */
const most = 2 ** 64

export interface RuleChecks {
  /** Schemas that are faulty in or below them: their rules are not compiled. */
  readonly faulty: ReadonlySet<SchemaSource>
  /** The schema was accepted before as it is: what one rule may cost is not asked again. */
  readonly unchanged?: boolean
  /** What the versions of a definition share. */
  readonly shared?: SharedRules
}

/** Compiled rules: parts of a definition that are equal are compiled once. */
export class SharedRules {
  readonly schemaOf = structuralSchemas()
  private readonly made = new Map<StructuralSchema, readonly CompiledRule[]>()

  compiled(schema: StructuralSchema, type: Type): readonly CompiledRule[] {
    const known = this.made.get(schema) ?? compiledRules(schema, type)
    this.made.set(schema, known)
    return known
  }
}

/** What is wrong with the rules in a sound schema; `path` leads to it. */
export function definitionFaults(source: SchemaSource, path: string, checks: RuleChecks): FieldError[] {
  if (!anySchema(source, ({ 'x-kubernetes-validations': rules }) => (rules?.length ?? 0) > 0)) return []
  const shared = checks.shared ?? new SharedRules()
  const schema = shared.schemaOf(source)
  const walk = new Walk(checks, shared)
  walk.visit({ source, schema, path, resource: true, cardinality: 1, uncorrelatable: undefined })
  return [...walk.faults, ...walk.totalFaults(path)]
}

interface Place {
  readonly source: SchemaSource
  readonly schema: StructuralSchema
  readonly path: string
  readonly resource: boolean
  /** How many values of the schema there can be in an object; undefined: nothing limits them. */
  readonly cardinality: number | undefined
  /** The list that keeps old and new values below it from being told apart. */
  readonly uncorrelatable: string | undefined
}

class Walk {
  readonly faults: FieldError[] = []
  private readonly checks: RuleChecks
  private readonly shared: SharedRules
  private readonly expensive: { readonly path: string; readonly cost: number }[] = []
  private total = 0

  constructor(checks: RuleChecks, shared: SharedRules) {
    this.checks = checks
    this.shared = shared
  }

  /** Schemas below come first. */
  visit(place: Place): void {
    const { source, schema, path, cardinality } = place
    if (!schema.has.rules) return
    const elements = maxElements(source)
    const inner = {
      cardinality:
        cardinality === undefined || elements === undefined ? undefined : Math.min(most, cardinality * elements),
    }
    const others = othersOf(source)
    if (others && typeof schema.others === 'object')
      this.below(place, inner, others, schema.others, `${path}.additionalProperties`)
    for (const [name, property] of propertiesOf(source)) {
      const below = schema.properties?.get(name)
      if (below) this.below(place, inner, property, below, `${path}.properties[${name}]`)
    }
    const items = itemsOf(source)
    if (items && schema.items) {
      // Only lists with keys tell which item was which.
      const uncorrelatable = place.uncorrelatable ?? (source['x-kubernetes-list-type'] === 'map' ? undefined : path)
      this.below({ ...place, uncorrelatable }, inner, items, schema.items, `${path}.items`)
    }
    if (source['x-kubernetes-validations']?.length && !this.checks.faulty.has(source)) this.rules(place)
  }

  private below(
    place: Place,
    inner: { cardinality: number | undefined },
    source: SchemaSource,
    schema: StructuralSchema,
    path: string,
  ): void {
    this.visit({ ...place, ...inner, source, schema, path, resource: schema.embedded })
  }

  private rules({ schema, path, resource, cardinality, uncorrelatable }: Place): void {
    const type = declaredType(schema, resource, selfTypeName)
    if (!type) {
      const detail =
        'internal error: failed to construct type information for x-kubernetes-validations rules: unable to ' +
        'convert structural schema to CEL declarations'
      this.faults.push(fieldError('InternalError', `${path}.x-kubernetes-validations`, `Internal error: ${detail}`))
      return
    }
    const times = cardinality ?? Math.floor(maxRequestBytes / ((leastBytes(schema, resource) ?? 0) + 1))
    // The root has fields that the same schema elsewhere has not.
    const compiled = resource === schema.embedded ? this.shared.compiled(schema, type) : compiledRules(schema, type)
    for (const [index, rule] of compiled.entries())
      this.rule(rule, `${path}.x-kubernetes-validations[${index}]`, times, uncorrelatable)
  }

  private rule(
    { rule, program, fault, message, messageFault, usesOldSelf }: CompiledRule,
    path: string,
    times: number,
    uncorrelatable: string | undefined,
  ): void {
    this.cost('estimated rule cost', Math.min(most, (program?.estimatedCost.max ?? 0) * times), `${path}.rule`)
    if (fault !== undefined) this.faults.push(invalidRule(`${path}.rule`, rule, fault))
    if (messageFault !== undefined) this.faults.push(invalidRule(`${path}.messageExpression`, rule, messageFault))
    else if (message)
      this.cost('estimated messageExpression cost', message.estimatedCost.max, `${path}.messageExpression`)
    if (usesOldSelf && uncorrelatable !== undefined)
      this.faults.push(
        invalidValue(
          `${path}.rule`,
          rule.rule,
          `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`,
        ),
      )
    if (!usesOldSelf && rule.optionalOldSelf !== undefined && rule.optionalOldSelf !== null)
      this.faults.push(
        invalidValue(`${path}.optionalOldSelf`, rule.optionalOldSelf, 'may not be set if oldSelf is not used in rule'),
      )
  }

  private cost(what: string, cost: number, path: string): void {
    if (cost > ruleCostLimit && !this.checks.unchanged)
      this.faults.push(forbiddenField(path, exceeds(what, cost, ruleCostLimit)))
    this.total = Math.min(most, this.total + cost)
    if (cost >= totalCostLimit / 100) this.expensive.push({ path, cost })
  }

  totalFaults(path: string): FieldError[] {
    if (this.total <= totalCostLimit) return []
    const dear = this.expensive.sort((a, b) => b.cost - a.cost).slice(0, mostDear)
    return [
      ...dear.map((rule) =>
        forbiddenField(
          rule.path,
          'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
        ),
      ),
      forbiddenField(
        path,
        exceeds(
          'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema',
          this.total,
          totalCostLimit,
        ),
      ),
    ]
  }
}

/** How many values there can be directly in one value of the schema. */
function maxElements({ type, additionalProperties, maxProperties, maxItems }: SchemaSource): number | undefined {
  const given = (limit: number | null | undefined): number | undefined =>
    limit === undefined || limit === null ? undefined : Math.max(0, Number(limit))
  if (type === 'array') return given(maxItems)
  return type === 'object' && additionalProperties !== undefined && additionalProperties !== null
    ? given(maxProperties)
    : 1
}

function exceeds(what: string, cost: number, limit: number): string {
  const times = cost / limit
  // Small excess is told exactly, lest it reads 1.0x.
  const factor = times > 100 ? 'more than 100x' : times < 1.5 ? `${times.toFixed(6)}x` : `${times.toFixed(1)}x`
  const remedy =
    'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings ' +
    'are declared'
  return `${what} exceeds budget by factor of ${factor} (${remedy})`
}

/** Shows the rule with the names that upstream's internal type has. */
function invalidRule(
  path: string,
  { rule, message, messageExpression, reason, fieldPath, optionalOldSelf }: ValidationRule,
  fault: string,
): FieldError {
  const shown = {
    Rule: rule,
    Message: message ?? '',
    MessageExpression: messageExpression ?? '',
    Reason: reason ?? null,
    FieldPath: fieldPath ?? '',
    OptionalOldSelf: optionalOldSelf ?? null,
  }
  return invalidValue(path, shown, fault)
}
