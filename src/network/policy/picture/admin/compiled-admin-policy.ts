/** A policy of an administrator with parsed selectors, beside NetworkPolicies in the same form. */
import { type LabelSelector, labelSelectorOf } from '../../../../machinery/selectors/label-selector.ts'
import {
  type CompiledPolicy,
  type CompiledRule,
  compiledPeers,
  compiledPorts,
  type NodeSelector,
  podSelectorOf,
} from '../compiled-policy.ts'
import type { AdminPolicy, TierRule } from './admin-policy.ts'

/** Undefined for a policy without effect. */
export function compiledAdminPolicy(policy: AdminPolicy): CompiledPolicy | undefined {
  const { title, tier, priority, subject, rules } = policy
  if (!subject) return undefined
  const compiled = (some: readonly TierRule[]): CompiledRule[] =>
    some.filter(({ scope }) => scope !== 'nothing').map((rule) => compiledRule(title, rule))
  const [Ingress, Egress] = [compiled(rules.Ingress), compiled(rules.Egress)]
  return {
    tier,
    priority,
    name: title,
    subject: podSelectorOf('', [subject]),
    // Unlike a NetworkPolicy, it does not isolate pods without rules.
    rules: { ...(Ingress.length > 0 && { Ingress }), ...(Egress.length > 0 && { Egress }) },
  }
}

function compiledRule(policy: string, { title, action, scope, peers, nodes, ports }: TierRule): CompiledRule {
  return {
    action,
    title: `${policy}, ${title}`,
    peers:
      scope === 'everything'
        ? undefined
        : { ...compiledPeers('', peers), ...(nodes.length > 0 && { nodes: nodeSelectorOf(nodes) }) },
    ports: ports?.length ? compiledPorts(ports) : undefined,
  }
}

/** Nodes that one of the selectors selects. */
function nodeSelectorOf(selectors: readonly LabelSelector[]): NodeSelector {
  const parsed = selectors.map(labelSelectorOf)
  return { key: JSON.stringify(selectors), matches: (labels) => parsed.some((one) => one.matches(labels)) }
}
