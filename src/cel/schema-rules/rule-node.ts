/** The tree of schemas that have rules in or below them. Rules are compiled for the first value. */
import type { StructuralSchema } from '../../machinery/structural-schema/index.ts'
import type { Program } from '../index.ts'
import type { Type } from '../types.ts'
import { type CompiledRule, compiledRules, selfTypeName } from './compiled-rule.ts'
import { declaredType, minBytes } from './declared-type.ts'

export class RuleNode {
  readonly schema: StructuralSchema
  readonly items: RuleNode | undefined
  readonly others: RuleNode | undefined
  readonly properties: ReadonlyMap<string, RuleNode> | undefined
  private readonly resource: boolean
  private made: NodeRules | undefined

  constructor(schema: StructuralSchema, resource: boolean) {
    this.schema = schema
    this.resource = resource
    this.items = schema.items && ruleNode(schema.items)
    this.others = typeof schema.others === 'object' ? ruleNode(schema.others) : undefined
    const properties = [...(schema.properties ?? [])].flatMap(([name, below]) => {
      const node = ruleNode(below)
      return node ? [[name, node] as const] : []
    })
    this.properties = properties.length > 0 ? new Map(properties) : undefined
  }

  /** The rules of the schema itself, or undefined if there are none. */
  get rules(): NodeRules | undefined {
    if (!this.schema.keywords['x-kubernetes-validations']?.length) return undefined
    return (this.made ??= nodeRules(this.schema, this.resource))
  }
}

/** A rule without the parts that only its validation uses. */
export interface EvaluatedRule extends Omit<CompiledRule, 'program' | 'message'> {
  readonly evaluate: Program['evaluate'] | undefined
  readonly message: Program['evaluate'] | undefined
}

export interface NodeRules {
  readonly type: Type
  readonly rules: readonly EvaluatedRule[]
  readonly usesOldSelf: boolean
  readonly hasOptionalOldSelf: boolean
}

function nodeRules(schema: StructuralSchema, resource: boolean): NodeRules | undefined {
  const type = declaredType(schema, resource, selfTypeName)
  if (!type) return undefined
  const rules = compiledRules(schema, type).map(({ program, message, ...rule }) => ({
    ...rule,
    evaluate: program?.evaluate,
    message: message?.evaluate,
  }))
  return {
    type,
    rules,
    usesOldSelf: rules.some((rule) => rule.usesOldSelf),
    hasOptionalOldSelf: rules.some(({ rule }) => rule.optionalOldSelf === true),
  }
}

const nodes = new WeakMap<StructuralSchema, RuleNode>()

/** Returns the node of a schema, or undefined if it has no rules in or below it, or they cannot access its values. */
function ruleNode(schema: StructuralSchema): RuleNode | undefined {
  if (!schema.has.rules || minBytes(schema, schema.embedded) === undefined) return undefined
  let node = nodes.get(schema)
  if (!node) nodes.set(schema, (node = new RuleNode(schema, schema.embedded)))
  return node
}
