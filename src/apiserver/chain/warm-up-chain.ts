/**
 * The chain for warm-up requests: the same filters, but separate metrics, seats and no audit log. Requests come from
 * the server itself, which may do everything.
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
import type { FindResource } from './metrics/request-labels.ts'
import { RequestMetrics } from './metrics/request-metrics.ts'

/** An ordinary user: members of system:masters bypass flow control. */
const itself = { name: 'system:apiserver', groups: ['system:authenticated'] }

/** `auditing` stores nothing. */
export function warmUpChain(chain: ChainOptions, find: FindResource, auditing: Auditing | undefined): ChainOptions {
  const metrics = new MetricsRegistry()
  const filters = filterDurations(metrics)
  const { authentication, flow, requestTimeoutMs } = chain
  return {
    ...chain,
    auditing,
    testControl: undefined,
    requestLog: undefined,
    metrics: new RequestMetrics(metrics, find),
    authorizer: alwaysAllow,
    attempts: authenticationMetrics(metrics, filters.authentication),
    impersonations: impersonationMetrics(metrics),
    decisions: authorizationMetrics(metrics, filters.authorization),
    waitGroup: new WaitGroup(),
    authentication: { ...authentication, authenticators: [() => itself] },
    flow:
      'admit' in flow ? defaultFlowControl(requestTimeoutMs, metrics) : { readOnly: 0, mutating: 0, dropped: () => {} },
  }
}

function defaultFlowControl(requestTimeoutMs: number, metrics: MetricsRegistry): FlowControl {
  const seats = defaultMaxRequests + defaultMaxMutatingRequests
  const control = new FlowControl({ seats, requestTimeoutMs, size: () => undefined, metrics })
  control.levels.configure(suggestedFlowSchemas, suggestedPriorityLevels)
  return control
}
