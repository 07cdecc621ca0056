/** Counts the decisions of authorizers by type and name. No opinion is not counted. */
import { after } from '../../lib/flow/after.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { Authorizer, Decision } from './authorizer.ts'

/** Returns a function that wraps an authorizer with counters. Call once per server. */
export function decisionCounter(
  metrics: MetricsRegistry,
): (type: string, name: string, authorizer: Authorizer) => Authorizer {
  const decisions = metrics.counter(
    'apiserver_authorization_decisions_total',
    'Total number of terminal decisions made by an authorizer split by authorizer type, name, and decision.',
    ['type', 'name', 'decision'],
  )
  return (type, name, authorizer) => {
    const allowed = decisions([type, name, 'allowed'])
    const denied = decisions([type, name, 'denied'])
    const count = (decision: Decision): Decision => {
      if (decision.verdict === 'allow') allowed.add()
      else if (decision.verdict === 'deny') denied.add()
      return decision
    }
    return {
      name: authorizer.name,
      authorize: (attributes) => after(authorizer.authorize(attributes), count),
      rulesFor: authorizer.rulesFor.bind(authorizer),
    }
  }
}
