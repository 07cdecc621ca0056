/** The chain: the order in which a request passes the filters. To add one, write its file and put it into the array. */
import type { FeatureGates } from '../../api/features/feature-gates.ts'
import type { Auditing } from '../audit/index.ts'
import type { Authentication } from '../authentication/index.ts'
import type { Authorizer } from '../authorization/authorizer.ts'
import type { FlowControl } from '../flow-control/index.ts'
import type { StoreHealth } from '../health/store-health.ts'
import type { Handler } from '../http/exchange.ts'
import type { WaitGroup } from '../http/wait-group.ts'
import { audit, earlyRejectionAudit } from './auditing/audit.ts'
import { auditId } from './auditing/audit-id.ts'
import { compose, type Filter } from './filter.ts'
import { cacheControl } from './headers/cache-control.ts'
import { cors } from './headers/cors.ts'
import { goaway } from './headers/goaway.ts'
import { strictTransportSecurity } from './headers/strict-transport-security.ts'
import { warnings } from './headers/warnings.ts'
import { authentication } from './identity/authentication.ts'
import type { AuthenticationMetrics } from './identity/authentication-metrics.ts'
import { authorization } from './identity/authorization.ts'
import type { AuthorizationMetrics } from './identity/authorization-metrics.ts'
import { basicChallenge } from './identity/basic-challenge.ts'
import { impersonation } from './identity/impersonation.ts'
import type { ImpersonationMetrics } from './identity/impersonation-metrics.ts'
import { expectedError, panicRecovery } from './lifetime/panic-recovery.ts'
import { retryAfter } from './lifetime/retry-after.ts'
import { timeout } from './lifetime/timeout.ts'
import { waitGroupFilter } from './lifetime/wait-group.ts'
import { type InFlightLimits, maxInFlight } from './limits/max-in-flight.ts'
import { priorityAndFairness, priorityAndFairnessHeaders } from './limits/priority-and-fairness.ts'
import { requestMetricsFilter } from './metrics/count-requests.ts'
import type { RequestMetrics } from './metrics/request-metrics.ts'
import { requestInfoFilter } from './request-info.ts'

export interface ChainOptions {
  readonly log: (line: string) => void
  readonly storeHealth: StoreHealth
  readonly waitGroup: WaitGroup
  readonly metrics: RequestMetrics
  readonly authentication: Pick<Authentication, 'authenticators' | 'hasPasswords' | 'isIdentityHeader'>
  readonly authorizer: Authorizer
  readonly attempts: AuthenticationMetrics
  readonly impersonations: ImpersonationMetrics
  readonly decisions: AuthorizationMetrics
  /** Priority and fairness, or plain limits. */
  readonly flow: FlowControl | (InFlightLimits & { readonly dropped: (kind: keyof InFlightLimits) => void })
  /** The time limit in ms for requests other than watches and streams. */
  readonly requestTimeoutMs: number
  /** Absent if auditing is off. */
  readonly auditing?: Auditing
  readonly http?: HttpOptions
  /** Filters of the control of tests. Default: none. */
  readonly testControl?: { readonly logged: Filter; readonly authenticated: Filter; readonly faulty: Filter }
  /** Logs requests. Default: none. */
  readonly requestLog?: Filter | undefined
  /** Default: those of 1.36. */
  readonly features?: FeatureGates
}

/** Options for HTTP headers that are independent of the API. */
export interface HttpOptions {
  /** The fraction of HTTP/2 requests whose client is asked to reconnect: 0 to 0.02. */
  readonly goawayChance?: number
  /** Origins from which browsers may send requests: regular expressions in Go's syntax. */
  readonly corsAllowedOrigins?: readonly string[]
  readonly strictTransportSecurity?: readonly string[]
  /** True if a stopping server answers 429 until the requests in progress are done. */
  readonly shutdownSendRetryAfter?: boolean
}

/** Includes a filter only if it is needed, as each one adds to the cost of every request. */
const when = (wanted: unknown, filter: () => Filter): readonly Filter[] => (wanted ? [filter()] : [])

/**
 * Builds the chain that ends with `director`, which answers requests. Throws RegexpSyntaxError for an invalid origin.
 */
export function buildChain(options: ChainOptions, director: Handler): Handler {
  const { http = {}, auditing, testControl, requestLog } = options
  const { goawayChance = 0, corsAllowedOrigins = [], strictTransportSecurity: directives = [] } = http
  const statusErrorOf = (error: unknown) => expectedError(error, options.storeHealth)
  return compose(
    [
      auditId(),
      requestInfoFilter(),
      ...when(testControl, () => testControl!.logged),
      ...when(requestLog, () => requestLog!),
      requestMetricsFilter(options.metrics),
      warnings(),
      ...when(http.shutdownSendRetryAfter, () => retryAfter(options.waitGroup)),
      ...when(directives.length, () => strictTransportSecurity(directives)),
      cacheControl(),
      ...when('admit' in options.flow, priorityAndFairnessHeaders),
      ...when(options.authentication.hasPasswords, basicChallenge),
      ...when(goawayChance > 0, () => goaway(goawayChance)),
      ...when(corsAllowedOrigins.length, () => cors(corsAllowedOrigins)),
      panicRecovery(options.log, options.storeHealth),
      waitGroupFilter(options.waitGroup),
      ...when(auditing, () => earlyRejectionAudit(auditing!, statusErrorOf)),
      timeout(options.requestTimeoutMs, options.metrics),
      authentication(options.authentication, options.attempts),
      ...when(auditing, () => audit(auditing!, statusErrorOf)),
      ...when(testControl, () => testControl!.authenticated),
      impersonation(options.authorizer, options.impersonations, options.features),
      ...when(testControl, () => testControl!.faulty),
      'admit' in options.flow
        ? priorityAndFairness(options.flow, options.metrics)
        : maxInFlight(options.flow, options.flow.dropped, options.metrics),
      authorization(options.authorizer, options.decisions),
    ],
    director,
  )
}
