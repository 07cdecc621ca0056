/** The chain: the order in which a request passes the filters. To add one, write its file and put it into the array. */
import type { FeatureGates } from '../../api/features/feature-gates.ts'
import type { Auditing } from '../audit/index.ts'
import type { Authentication } from '../authentication/index.ts'
import type { Authorizer } from '../authorization/authorizer.ts'
import type { FlowControl } from '../flow-control/index.ts'
import type { StoreHealth } from '../health/store-health.ts'
import type { Handler } from '../http/exchange.ts'
import type { WaitGroup } from '../http/wait-group.ts'
import { audit, earlyRefusalAudit } from './auditing/audit.ts'
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
import { foreseen, panicRecovery } from './lifetime/panic-recovery.ts'
import { retryAfter } from './lifetime/retry-after.ts'
import { timeout } from './lifetime/timeout.ts'
import { waitGroupFilter } from './lifetime/wait-group.ts'
import { type InFlightLimits, maxInFlight } from './limits/max-in-flight.ts'
import { priorityAndFairness } from './limits/priority-and-fairness.ts'
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
  /** How long a request that is no watch or stream may take, in ms. */
  readonly requestTimeoutMs: number
  /** Absent where nothing is audited. */
  readonly auditing?: Auditing
  readonly http?: HttpOptions
  /** The defaults of 1.36 if absent. */
  readonly features?: FeatureGates
}

/** What the server says to HTTP clients beside its answers. */
export interface HttpOptions {
  /** The share of HTTP/2 requests whose client is sent to another connection: 0 to 0.02. */
  readonly goawayChance?: number
  /** Origins that browsers may send requests from: regular expressions in Go's syntax. */
  readonly corsAllowedOrigins?: readonly string[]
  readonly strictTransportSecurity?: readonly string[]
  /** Whether a server that ends answers 429 until the requests under way are done. */
  readonly shutdownSendRetryAfter?: boolean
}

/** A filter that is only there if it is wanted: one that does nothing costs its part of every request. */
const where = (wanted: unknown, filter: () => Filter): readonly Filter[] => (wanted ? [filter()] : [])

/** Every request's way to `director`, which answers it. Throws RegexpSyntaxError for an origin that is none. */
export function buildChain(options: ChainOptions, director: Handler): Handler {
  const { http = {}, auditing } = options
  const { goawayChance = 0, corsAllowedOrigins = [], strictTransportSecurity: directives = [] } = http
  const answerOf = (error: unknown) => foreseen(error, options.storeHealth)
  return compose(
    [
      auditId(),
      requestInfoFilter(),
      requestMetricsFilter(options.metrics),
      warnings(),
      ...where(http.shutdownSendRetryAfter, () => retryAfter(options.waitGroup)),
      ...where(directives.length, () => strictTransportSecurity(directives)),
      cacheControl(),
      ...where(options.authentication.hasPasswords, basicChallenge),
      ...where(goawayChance > 0, () => goaway(goawayChance)),
      ...where(corsAllowedOrigins.length, () => cors(corsAllowedOrigins)),
      panicRecovery(options.log, options.storeHealth),
      waitGroupFilter(options.waitGroup),
      ...where(auditing, () => earlyRefusalAudit(auditing!, answerOf)),
      timeout(options.requestTimeoutMs, options.metrics),
      authentication(options.authentication, options.attempts),
      ...where(auditing, () => audit(auditing!, answerOf)),
      impersonation(options.authorizer, options.impersonations, options.features),
      'admit' in options.flow
        ? priorityAndFairness(options.flow, options.metrics)
        : maxInFlight(options.flow, options.flow.dropped, options.metrics),
      authorization(options.authorizer, options.decisions),
    ],
    director,
  )
}
