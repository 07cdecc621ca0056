/** Which rule of a tier of administrators decides about a connection, and what those before it miss. */
import type { AdminPolicy, AdminTier, TierRule } from '../picture/admin/admin-policy.ts'
import { type Direction, podSelectorOf } from '../picture/compiled-policy.ts'
import type { PolicyObjects } from '../picture/policy-objects.ts'
import { type AskedConnection, peerMiss, portMiss } from './rule-misses.ts'

export interface AdminVerdict {
  /** `ClusterNetworkPolicy guard (tier Admin, priority 3)`. */
  readonly policy: string
  /** The outcome of its rules, up to the one that matches: `rule 2 (others) denies it`. */
  readonly rules: readonly string[]
}

export interface Decision {
  /** `ClusterNetworkPolicy guard, rule 2 (others)`. */
  readonly by: string
  readonly isAllowed: boolean
}

export interface TierVerdict {
  /** Undefined: the next tier decides. */
  readonly decision: Decision | undefined
  readonly policies: readonly AdminVerdict[]
}

const outcomes = { Accept: 'accepts it', Deny: 'denies it', Pass: 'passes it on' } as const

/** The first rule that matches decides, or passes the connection on to the next tier. */
export function tierVerdict(
  objects: PolicyObjects,
  asked: AskedConnection,
  direction: Direction,
  tier: AdminTier,
): TierVerdict {
  const policies: AdminVerdict[] = []
  for (const policy of concerned(objects, asked, direction, tier)) {
    const rules: string[] = []
    policies.push({ policy: `${policy.title} (tier ${tier}${priorityText(policy)})`, rules })
    for (const rule of policy.rules[direction]) {
      const miss = missOf(objects, asked, direction, rule)
      if (miss !== undefined) {
        rules.push(`${rule.title}: ${miss}`)
        continue
      }
      rules.push(`${rule.title} ${outcomes[rule.action]}`)
      const by = `${policy.title}, ${rule.title}`
      return { policies, decision: rule.action === 'Pass' ? undefined : { by, isAllowed: rule.action === 'Accept' } }
    }
  }
  return { policies, decision: undefined }
}

const priorityText = ({ title, priority }: AdminPolicy): string =>
  title.startsWith('Baseline') ? '' : `, priority ${priority}`

/** Those with rules that select the pod, in their order. */
function concerned(
  objects: PolicyObjects,
  asked: AskedConnection,
  direction: Direction,
  tier: AdminTier,
): readonly AdminPolicy[] {
  const own = direction === 'Egress' ? asked.from : asked.to
  const labels = objects.labelsOf(own.namespace)
  return objects.adminPolicies
    .filter((policy) => policy.tier === tier && policy.rules[direction].length > 0)
    .filter(({ subject }) => subject && podSelectorOf('', [subject]).matches(own, labels))
    .sort((a, b) => a.priority - b.priority || (a.title < b.title ? -1 : 1))
}

function missOf(
  objects: PolicyObjects,
  asked: AskedConnection,
  direction: Direction,
  { scope, problem, ports, ...peers }: TierRule,
): string | undefined {
  if (scope === 'nothing') return `it has no effect: ${problem}`
  if (scope === 'everything') return undefined
  return portMiss(ports, asked) ?? peerMiss(objects, '', peers, direction === 'Egress' ? asked.to : asked.from)
}
