/** The rules of a user's bindings, indexed by resource, so that a decision checks few of them. */
import { allow, type Decision } from '../authorizer.ts'
import { groupMatches, nameMatches, type PolicyRule, type RuleAttributes, urlMatches, verbMatches } from './rule.ts'

/** A rule and its decision. */
interface Grant {
  readonly rule: PolicyRule
  readonly decision: Decision
}

export class Grants {
  /** By `pods`, `pods/log`, and `*` + `/scale`. */
  readonly #byResource = new Map<string, Grant[]>()
  readonly #allResources: Grant[] = []
  readonly #urls: Grant[] = []

  /** `because` describes the binding: `RoleBinding "x/y" of Role "z" to User "u"`. */
  add(rules: readonly PolicyRule[], because: string): void {
    const decision = allow(`RBAC: allowed by ${because}`)
    for (const rule of rules) {
      const grant = { rule, decision }
      if (rule.nonResourceURLs?.length) this.#urls.push(grant)
      if (rule.resources?.includes('*')) this.#allResources.push(grant)
      else for (const resource of new Set(rule.resources)) this.#under(resource).push(grant)
    }
  }

  decide(attributes: RuleAttributes): Decision | undefined {
    if (!attributes.isResourceRequest)
      return this.#urls.find(({ rule }) => verbMatches(rule, attributes.verb) && urlMatches(rule, attributes.path))
        ?.decision
    const { resource, subresource } = attributes
    if (!subresource)
      return allowing(this.#byResource.get(resource), attributes) ?? allowing(this.#allResources, attributes)
    return (
      allowing(this.#byResource.get(`${resource}/${subresource}`), attributes) ??
      allowing(this.#byResource.get(`*/${subresource}`), attributes) ??
      allowing(this.#allResources, attributes)
    )
  }

  #under(resource: string): Grant[] {
    const known = this.#byResource.get(resource)
    if (known) return known
    const grants: Grant[] = []
    this.#byResource.set(resource, grants)
    return grants
  }
}

function allowing(grants: readonly Grant[] | undefined, { verb, group, name }: RuleAttributes): Decision | undefined {
  if (grants)
    for (const { rule, decision } of grants)
      if (verbMatches(rule, verb) && groupMatches(rule, group) && nameMatches(rule, name)) return decision
  return undefined
}
