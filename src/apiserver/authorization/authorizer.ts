/** Authorizers say whether a user may do what a request asks for. */

import type { RequestInfo } from '../request-info/request-info.ts'
import type { UserInfo } from '../request-info/user-info.ts'

/** `no opinion`: others are asked; if nobody allows it, it is refused. `deny` is final. */
export interface Decision {
  readonly verdict: 'allow' | 'deny' | 'no opinion'
  /** Empty, or why, as 403 answers and access reviews tell it. */
  readonly reason: string
  /** What went wrong while deciding, if anything did: access reviews show it. */
  readonly evaluationError?: string
}

/** A part of a list's selector, as authorizers see it (KEP-4601). */
export interface SelectorRequirement {
  readonly key: string
  /** `In`, `NotIn`, `Exists`, `DoesNotExist`. */
  readonly operator: string
  readonly values?: readonly string[]
}

/** What is decided on: a request, or the question of an access review. */
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

/** All that a user may do in a namespace, as far as an authorizer can tell. */
export interface RuleSet {
  readonly resourceRules: readonly ResourceRule[]
  readonly nonResourceRules: readonly NonResourceRule[]
  /** There may be more that the authorizer cannot list. */
  readonly incomplete: boolean
  readonly evaluationError?: string
}

export interface Authorizer {
  /** As `--authorization-mode` calls it. */
  readonly name: string
  authorize(attributes: AccessAttributes): Decision | Promise<Decision>
  /** For SelfSubjectRulesReview. */
  rulesFor(user: UserInfo, namespace: string): RuleSet | Promise<RuleSet>
}

export const allow = (reason = ''): Decision => ({ verdict: 'allow', reason })
export const deny = (reason = ''): Decision => ({ verdict: 'deny', reason })
const silent: Decision = { verdict: 'no opinion', reason: '' }
export const noOpinion = (reason = ''): Decision => (reason ? { verdict: 'no opinion', reason } : silent)

/**
 * Asks one after the other until one allows or denies. The reasons of those without an opinion are told, a line each.
 */
export function inTurn(authorizers: readonly Authorizer[]): Authorizer {
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
  told: readonly Decision[] | undefined,
): Decision | Promise<Decision> {
  let undecided = told
  for (let i = from; i < authorizers.length; i++) {
    const asked = authorizers[i]!.authorize(attributes)
    if (asked instanceof Promise) {
      const before = undecided
      return asked.then((decision) =>
        decision.verdict === 'no opinion'
          ? authorizeFrom(authorizers, attributes, i + 1, withReason(before, decision))
          : decision,
      )
    }
    if (asked.verdict !== 'no opinion') return asked
    undecided = withReason(undecided, asked)
  }
  const reason = undecided?.flatMap(({ reason }) => reason || []).join('\n') ?? ''
  const errors = undecided?.flatMap(({ evaluationError }) => evaluationError ?? []) ?? []
  return { verdict: 'no opinion', reason, ...(errors.length > 0 && { evaluationError: errors.join(', ') }) }
}

/** Who has nothing to say about it is not remembered. */
const withReason = (told: readonly Decision[] | undefined, decision: Decision): readonly Decision[] | undefined =>
  decision.reason || decision.evaluationError ? [...(told ?? []), decision] : told
