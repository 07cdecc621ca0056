/**
 * The chain: the order in which a request passes the filters. To add one, write its file and put it into the array.
 * Places that are kept free: goaway before request info; audit after authentication; priority and
 * fairness before authorization.
 */
import type { Authenticator } from '../authentication/authenticator.ts'
import type { Authorizer } from '../authorization/authorizer.ts'
import type { StoreHealth } from '../health/store-health.ts'
import type { Handler } from '../http/exchange.ts'
import type { AuthorizationMetrics } from '../metrics/authorization-metrics.ts'
import type { RequestMetrics } from '../metrics/request-metrics.ts'
import { authentication } from './authentication.ts'
import { authorization } from './authorization.ts'
import { cacheControl } from './cache-control.ts'
import { compose } from './filter.ts'
import { impersonation } from './impersonation.ts'
import { panicRecovery } from './panic-recovery.ts'
import { requestInfoFilter } from './request-info.ts'
import { requestMetricsFilter } from './request-metrics.ts'
import { timeout } from './timeout.ts'
import { type WaitGroup, waitGroupFilter } from './wait-group.ts'
import { warnings } from './warnings.ts'

export interface ChainOptions {
  readonly log: (line: string) => void
  readonly storeHealth: StoreHealth
  readonly waitGroup: WaitGroup
  readonly metrics: RequestMetrics
  readonly authenticators: readonly Authenticator[]
  readonly authorizer: Authorizer
  readonly decisions: AuthorizationMetrics
  /** How long a request that is no watch or stream may take, in ms. */
  readonly requestTimeoutMs: number
}

/** Every request's way to `director`, which answers it. */
export const buildChain = (options: ChainOptions, director: Handler): Handler =>
  compose(
    [
      requestInfoFilter(),
      requestMetricsFilter(options.metrics),
      warnings(),
      cacheControl(),
      panicRecovery(options.log, options.storeHealth),
      waitGroupFilter(options.waitGroup),
      timeout(options.requestTimeoutMs),
      authentication(options.authenticators),
      impersonation(options.authorizer),
      authorization(options.authorizer, options.decisions),
    ],
    director,
  )
