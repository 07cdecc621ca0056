/**
 * The chain as requests of the warm-up pass it: the same filters, but nobody counts or audits them, they take nobody's
 * seats, and they come from the server itself, which may do everything.
 */
import { suggestedFlowSchemas, suggestedPriorityLevels } from '../../api/flowcontrol/bootstrap-objects.ts'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { Auditing } from '../audit/index.ts'
import { alwaysAllow } from '../authorization/fixed-authorizers.ts'
import { defaultMaxMutatingRequests, defaultMaxRequests, FlowControl } from '../flow-control/index.ts'
import { WaitGroup } from '../http/wait-group.ts'
import { authenticationMetrics } from './identity/authentication-metrics.ts'
import { authorizationMetrics } from './identity/authorization-metrics.ts'
import { impersonationMetrics } from './identity/impersonation-metrics.ts'
import type { ChainOptions } from './index.ts'
import { filterDurations } from './metrics/filter-metrics.ts'
import { type FindResource, requestMetrics } from './metrics/request-metrics.ts'

/** Somebody as most are: who belongs to system:masters passes by what others wait at. */
const itself = { name: 'system:apiserver', groups: ['system:authenticated'] }

/** `auditing` keeps nothing. */
export function uncounted(chain: ChainOptions, find: FindResource, auditing: Auditing | undefined): ChainOptions {
  const metrics = new MetricsRegistry()
  const filters = filterDurations(metrics)
  const { authentication, flow, requestTimeoutMs } = chain
  return {
    ...chain,
    auditing,
    metrics: requestMetrics(metrics, find),
    authorizer: alwaysAllow,
    attempts: authenticationMetrics(metrics, filters.authentication),
    impersonations: impersonationMetrics(metrics),
    decisions: authorizationMetrics(metrics, filters.authorization),
    waitGroup: new WaitGroup(),
    authentication: { ...authentication, authenticators: [() => itself] },
    flow: 'admit' in flow ? usualFlows(requestTimeoutMs, metrics) : { readOnly: 0, mutating: 0, dropped: () => {} },
  }
}

function usualFlows(requestTimeoutMs: number, metrics: MetricsRegistry): FlowControl {
  const seats = defaultMaxRequests + defaultMaxMutatingRequests
  const control = new FlowControl({ seats, requestTimeoutMs, size: () => undefined, metrics })
  control.levels.configure(suggestedFlowSchemas, suggestedPriorityLevels)
  return control
}
