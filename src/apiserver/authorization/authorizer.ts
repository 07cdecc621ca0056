/** Authorizers decide whether a user may perform a request. */

import type { RequestInfo } from '../request-info/request-info.ts'
import type { UserInfo } from '../request-info/user-info.ts'

/** After `no opinion`, the next authorizer decides; if none allows the request, it is denied. `deny` is final. */
export interface Decision {
  readonly verdict: 'allow' | 'deny' | 'no opinion'
  /** The reason in 403 responses and access reviews; may be empty. */
  readonly reason: string
  /** An error during the decision, for access reviews. */
  readonly evaluationError?: string
}

/** A requirement of a list's selector, as authorizers receive it (KEP-4601). */
export interface SelectorRequirement {
  readonly key: string
  /** `In`, `NotIn`, `Exists`, `DoesNotExist`. */
  readonly operator: string
  readonly values?: readonly string[]
}

/** The input of a decision: a request, or the attributes of an access review. */
export interface AccessAttributes {
  readonly user?: UserInfo
  readonly info: RequestInfo
  readonly fieldSelector?: readonly SelectorRequirement[]
  readonly labelSelector?: readonly SelectorRequirement[]
}

export interface ResourceRule {
  readonly verbs: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
}

export interface NonResourceRule {
  readonly verbs: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

/** The permissions of a user in a namespace, as far as an authorizer can list them. */
export interface RuleSet {
  readonly resourceRules: readonly ResourceRule[]
  readonly nonResourceRules: readonly NonResourceRule[]
  /** True if there may be permissions that the authorizer cannot list. */
  readonly incomplete: boolean
  readonly evaluationError?: string
}

export interface Authorizer {
  /** The name in `--authorization-mode`. */
  readonly name: string
  authorize(attributes: AccessAttributes): Decision | Promise<Decision>
  /** Returns the rules for SelfSubjectRulesReview. */
  rulesFor(user: UserInfo, namespace: string): RuleSet | Promise<RuleSet>
}

export const allow = (reason = ''): Decision => ({ verdict: 'allow', reason })
export const deny = (reason = ''): Decision => ({ verdict: 'deny', reason })
const noOpinionAtAll: Decision = { verdict: 'no opinion', reason: '' }
export const noOpinion = (reason = ''): Decision => (reason ? { verdict: 'no opinion', reason } : noOpinionAtAll)

/**
 * Calls authorizers in order until one allows or denies. The reasons of those without an opinion are joined, one per
 * line.
 */
export function unionAuthorizer(authorizers: readonly Authorizer[]): Authorizer {
  return {
    name: authorizers.map(({ name }) => name).join(','),
    authorize: (attributes) => authorizeFrom(authorizers, attributes, 0, undefined),
    async rulesFor(user, namespace) {
      const sets = await Promise.all(authorizers.map((authorizer) => authorizer.rulesFor(user, namespace)))
      const errors = sets.flatMap(({ evaluationError }) => evaluationError ?? [])
      return {
        resourceRules: sets.flatMap(({ resourceRules }) => resourceRules),
        nonResourceRules: sets.flatMap(({ nonResourceRules }) => nonResourceRules),
        incomplete: sets.some(({ incomplete }) => incomplete),
        ...(errors.length > 0 && { evaluationError: errors.join(', ') }),
      }
    },
  }
}

function authorizeFrom(
  authorizers: readonly Authorizer[],
  attributes: AccessAttributes,
  from: number,
  before: readonly Decision[] | undefined,
): Decision | Promise<Decision> {
  let undecided = before
  for (let i = from; i < authorizers.length; i++) {
    const decision = authorizers[i]!.authorize(attributes)
    if (decision instanceof Promise) {
      const before = undecided
      return decision.then((resolved) =>
        resolved.verdict === 'no opinion'
          ? authorizeFrom(authorizers, attributes, i + 1, withReason(before, resolved))
          : resolved,
      )
    }
    if (decision.verdict !== 'no opinion') return decision
    undecided = withReason(undecided, decision)
  }
  const reason = undecided?.flatMap(({ reason }) => reason || []).join('\n') ?? ''
  const errors = undecided?.flatMap(({ evaluationError }) => evaluationError ?? []) ?? []
  return { verdict: 'no opinion', reason, ...(errors.length > 0 && { evaluationError: errors.join(', ') }) }
}

/** Decisions without reason and error are not stored. */
const withReason = (before: readonly Decision[] | undefined, decision: Decision): readonly Decision[] | undefined =>
  decision.reason || decision.evaluationError ? [...(before ?? []), decision] : before
