/** Explains whether policies allow a connection between two pods: which select a pod, and what their rules miss. */
import type { NetworkPolicy } from '../../../client/kinds.ts'
import { compiledPolicy, type Direction } from '../picture/compiled-policy.ts'
import type { PolicyObjects } from '../picture/policy-objects.ts'
import { type AdminVerdict, type Decision, tierVerdict } from './admin-verdict.ts'
import { type AskedConnection, peerMiss, portMiss } from './rule-misses.ts'

/** A policy that selects the pod, and the reasons why each of its rules does not fit; empty if one does. */
export interface PolicyVerdict {
  /** `NAMESPACE/NAME`. */
  readonly policy: string
  readonly isAllowed: boolean
  readonly misses: readonly string[]
}

export interface DirectionVerdict {
  readonly direction: Direction
  readonly isAllowed: boolean
  /** The rule of an administrator that decides, if one does. */
  readonly decision: Decision | undefined
  /** Policies of administrators that select the pod, up to the one that decides. */
  readonly admin: readonly AdminVerdict[]
  /** NetworkPolicies that select the pod, unless the admin tier decides. */
  readonly policies: readonly PolicyVerdict[]
  /** As `admin`, unless one of the tiers before decides. */
  readonly baseline: readonly AdminVerdict[]
}

export interface ConnectionVerdict {
  readonly isAllowed: boolean
  /** Policies of administrators that are invalid, with the reason. */
  readonly problems: readonly string[]
  readonly egress: DirectionVerdict
  readonly ingress: DirectionVerdict
}

/** Both directions must allow a connection. A pod always reaches itself. */
export function explainConnection(objects: PolicyObjects, asked: AskedConnection): ConnectionVerdict {
  const egress = verdictFor(objects, asked, 'Egress')
  const ingress = verdictFor(objects, asked, 'Ingress')
  const problems = objects.adminPolicies.flatMap(({ title, problems }) => problems.map((each) => `${title}: ${each}`))
  return { isAllowed: asked.from === asked.to || (egress.isAllowed && ingress.isAllowed), problems, egress, ingress }
}

function verdictFor(objects: PolicyObjects, asked: AskedConnection, direction: Direction): DirectionVerdict {
  const admin = tierVerdict(objects, asked, direction, 'Admin')
  const decided = { direction, admin: admin.policies, policies: [], baseline: [] }
  if (admin.decision) return { ...decided, decision: admin.decision, isAllowed: admin.decision.isAllowed }
  const policies = policyVerdicts(objects, asked, direction)
  if (policies.length > 0)
    return { ...decided, decision: undefined, policies, isAllowed: policies.some(({ isAllowed }) => isAllowed) }
  const { decision, policies: baseline } = tierVerdict(objects, asked, direction, 'Baseline')
  return { ...decided, decision, baseline, isAllowed: decision?.isAllowed ?? true }
}

function policyVerdicts(objects: PolicyObjects, asked: AskedConnection, direction: Direction): PolicyVerdict[] {
  const own = direction === 'Egress' ? asked.from : asked.to
  const labels = objects.labelsOf(own.namespace)
  const selecting = [...objects.policies].filter((policy) => {
    const { rules, subject } = compiledPolicy(policy)
    return rules[direction] !== undefined && subject.matches(own, labels)
  })
  return selecting.map((policy) => policyVerdict(objects, policy, asked, direction))
}

function policyVerdict(
  objects: PolicyObjects,
  { metadata, spec }: NetworkPolicy,
  asked: AskedConnection,
  direction: Direction,
): PolicyVerdict {
  const namespace = metadata.namespace ?? ''
  const rules =
    direction === 'Egress'
      ? (spec?.egress ?? []).map(({ to, ports }) => ({ peers: to, ports }))
      : (spec?.ingress ?? []).map(({ from, ports }) => ({ peers: from, ports }))
  const other = direction === 'Egress' ? asked.to : asked.from
  const misses: string[] = []
  for (const { peers, ports } of rules) {
    const miss = portMiss(ports, asked) ?? peerMiss(objects, namespace, { peers }, other)
    if (miss === undefined) return { policy: `${namespace}/${metadata.name}`, isAllowed: true, misses: [] }
    misses.push(miss)
  }
  const none = rules.length === 0 ? [`it has no rules for ${direction.toLowerCase()}`] : []
  return { policy: `${namespace}/${metadata.name}`, isAllowed: false, misses: [...none, ...misses] }
}
