/**
 * The chain as requests of the warm-up pass it: the same filters, but nobody counts or audits them, they take nobody's seats, and they
 * come from the server itself.
 */
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { Auditing } from '../audit/index.ts'
import { defaultMaxMutatingRequests, defaultMaxRequests, FlowControl } from '../flow-control/index.ts'
import { authorizationMetrics } from '../metrics/authorization-metrics.ts'
import { type FindResource, requestMetrics } from '../metrics/request-metrics.ts'
import type { ChainOptions } from './index.ts'
import { WaitGroup } from './lifetime/wait-group.ts'

const itself = { name: 'system:apiserver', groups: ['system:masters'] }

/** `auditing` keeps nothing. */
export function uncounted(chain: ChainOptions, find: FindResource, auditing: Auditing | undefined): ChainOptions {
  const metrics = new MetricsRegistry()
  const { authentication, flow, requestTimeoutMs } = chain
  const seats = defaultMaxRequests + defaultMaxMutatingRequests
  return {
    ...chain,
    auditing,
    metrics: requestMetrics(metrics, find),
    decisions: authorizationMetrics(metrics),
    waitGroup: new WaitGroup(),
    authentication: { ...authentication, authenticators: [() => itself] },
    flow: 'admit' in flow ? new FlowControl({ seats, requestTimeoutMs, size: () => undefined, metrics }) : { readOnly: 0, mutating: 0, dropped: () => {} },
  }
}
