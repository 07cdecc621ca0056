/** The flags of the concurrency of requests: `--enable-priority-and-fairness`, `--max-…requests-inflight`. */
import {
  defaultMaxMutatingRequests,
  defaultMaxRequests,
  type FlowControlOptions,
} from '../../apiserver/flow-control/index.ts'
import type { FlagValues } from '../../apiserver/serving-flags/index.ts'

/** Returns upstream's errors for invalid limits; empty if there are none. */
export function flowControlErrors(flags: FlagValues): string[] {
  const reads = flags.int('max-requests-inflight') ?? defaultMaxRequests
  const writes = flags.int('max-mutating-requests-inflight') ?? defaultMaxMutatingRequests
  const queued = flags.bool('enable-priority-and-fairness') ?? true
  return [
    ...(reads < 0 ? ['--max-requests-inflight can not be negative value'] : []),
    ...(writes < 0 ? ['--max-mutating-requests-inflight can not be negative value'] : []),
    ...(queued && reads === 0 && writes === 0
      ? [
          `invalid configuration: MaxRequestsInFlight=${reads} and MaxMutatingRequestsInFlight=${writes}; they ` +
            'must add up to something positive',
        ]
      : []),
  ]
}

export const flowControlOptions = (flags: FlagValues): FlowControlOptions => ({
  enabled: flags.bool('enable-priority-and-fairness'),
  maxRequestsInFlight: flags.int('max-requests-inflight'),
  maxMutatingRequestsInFlight: flags.int('max-mutating-requests-inflight'),
})
