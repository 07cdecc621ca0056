/** Validation of rules when a schema is defined: they have to compile, and their estimated cost is limited. */
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
import { declaredType, maxRequestBytes, minBytes } from './declared-type.ts'

/** The limit for the estimated cost of a rule, multiplied by the possible number of its values. */
const ruleCostLimit = 10_000_000
/** The limit for all rules and messages of a schema. */
const totalCostLimit = 100_000_000
/** Maximum number of reported rules, the most expensive ones. */
const maxReportedRules = 4
/** The cap of costs: Go's uint64. */
const maxCost = 2 ** 64

export interface RuleChecks {
  /** Schemas with errors in or below them: their rules are not compiled. */
  readonly faulty: ReadonlySet<SchemaSource>
  /** True if the schema has not changed: the limit per rule is not checked then. */
  readonly unchanged?: boolean
  /** The compiled rules that the versions of a definition share. */
  readonly shared?: SharedRules
}

/** A cache of compiled rules: equal parts of a definition are compiled once. */
export class SharedRules {
  readonly schemaOf = structuralSchemas()
  private readonly compiledBySchema = new Map<StructuralSchema, readonly CompiledRule[]>()

  compiled(schema: StructuralSchema, type: Type): readonly CompiledRule[] {
    const known = this.compiledBySchema.get(schema) ?? compiledRules(schema, type)
    this.compiledBySchema.set(schema, known)
    return known
  }
}

/** Returns the errors of the rules in a valid schema at `path`. */
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
  /** The maximum number of values of the schema in an object. Undefined: unlimited. */
  readonly cardinality: number | undefined
  /** The path of the list below which old and new values cannot be correlated. */
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

  /** Visits a schema after those below it. */
  visit(place: Place): void {
    const { source, schema, path, cardinality } = place
    if (!schema.has.rules) return
    const elements = maxElements(source)
    const inner = {
      cardinality:
        cardinality === undefined || elements === undefined ? undefined : Math.min(maxCost, cardinality * elements),
    }
    const others = othersOf(source)
    if (others && typeof schema.others === 'object')
      this.visitBelow(place, inner, others, schema.others, `${path}.additionalProperties`)
    for (const [name, property] of propertiesOf(source)) {
      const below = schema.properties?.get(name)
      if (below) this.visitBelow(place, inner, property, below, `${path}.properties[${name}]`)
    }
    const items = itemsOf(source)
    if (items && schema.items) {
      // Only items of lists with keys can be correlated.
      const uncorrelatable = place.uncorrelatable ?? (source['x-kubernetes-list-type'] === 'map' ? undefined : path)
      this.visitBelow({ ...place, uncorrelatable }, inner, items, schema.items, `${path}.items`)
    }
    if (source['x-kubernetes-validations']?.length && !this.checks.faulty.has(source)) this.checkRules(place)
  }

  private visitBelow(
    place: Place,
    inner: { cardinality: number | undefined },
    source: SchemaSource,
    schema: StructuralSchema,
    path: string,
  ): void {
    this.visit({ ...place, ...inner, source, schema, path, resource: schema.embedded })
  }

  private checkRules({ schema, path, resource, cardinality, uncorrelatable }: Place): void {
    const type = declaredType(schema, resource, selfTypeName)
    if (!type) {
      const detail =
        'internal error: failed to construct type information for x-kubernetes-validations rules: unable to ' +
        'convert structural schema to CEL declarations'
      this.faults.push(fieldError('InternalError', `${path}.x-kubernetes-validations`, `Internal error: ${detail}`))
      return
    }
    const times = cardinality ?? Math.floor(maxRequestBytes / ((minBytes(schema, resource) ?? 0) + 1))
    // The root has fields that an equal schema elsewhere does not have.
    const compiled = resource === schema.embedded ? this.shared.compiled(schema, type) : compiledRules(schema, type)
    for (const [index, rule] of compiled.entries())
      this.checkRule(rule, `${path}.x-kubernetes-validations[${index}]`, times, uncorrelatable)
  }

  private checkRule(
    { rule, program, fault, message, messageFault, usesOldSelf }: CompiledRule,
    path: string,
    times: number,
    uncorrelatable: string | undefined,
  ): void {
    this.addCost('estimated rule cost', Math.min(maxCost, (program?.estimatedCost.max ?? 0) * times), `${path}.rule`)
    if (fault !== undefined) this.faults.push(invalidRule(`${path}.rule`, rule, fault))
    if (messageFault !== undefined) this.faults.push(invalidRule(`${path}.messageExpression`, rule, messageFault))
    else if (message)
      this.addCost('estimated messageExpression cost', message.estimatedCost.max, `${path}.messageExpression`)
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

  private addCost(what: string, cost: number, path: string): void {
    if (cost > ruleCostLimit && !this.checks.unchanged)
      this.faults.push(forbiddenField(path, exceeds(what, cost, ruleCostLimit)))
    this.total = Math.min(maxCost, this.total + cost)
    if (cost >= totalCostLimit / 100) this.expensive.push({ path, cost })
  }

  totalFaults(path: string): FieldError[] {
    if (this.total <= totalCostLimit) return []
    const mostExpensive = this.expensive.sort((a, b) => b.cost - a.cost).slice(0, maxReportedRules)
    return [
      ...mostExpensive.map((rule) =>
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

/** Returns the maximum number of values directly in one value of the schema. */
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
  // A small excess is shown exactly, because it would be 1.0x.
  const factor = times > 100 ? 'more than 100x' : times < 1.5 ? `${times.toFixed(6)}x` : `${times.toFixed(1)}x`
  const remedy =
    'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings ' +
    'are declared'
  return `${what} exceeds budget by factor of ${factor} (${remedy})`
}

/** Creates the error with the rule in the form of upstream's internal type. */
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
