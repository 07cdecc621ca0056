/** Metrics of impersonation (KEP-5284), under upstream's names. */
import type { MetricsRegistry } from '../../../lib/metrics/registry.ts'

/** `legacy` is the original `impersonate` permission. */
export type ImpersonationModeName = 'associated-node' | 'arbitrary-node' | 'serviceaccount' | 'user-info' | 'legacy'

export interface ImpersonationMetrics {
  /** Counts an attempt to impersonate; no mode if it was denied. */
  attempted(mode: ImpersonationModeName | undefined, ms: number): void
  /** Counts a check by the authorizer. */
  checked(mode: ImpersonationModeName, isAllowed: boolean, ms: number): void
}

/** In seconds: 1 ms, doubled fourteen times. */
const durations = Array.from({ length: 15 }, (_, power) => 0.001 * 2 ** power)
const labels = ['mode', 'decision'] as const
const prefix = 'apiserver_impersonation'

export function impersonationMetrics(metrics: MetricsRegistry): ImpersonationMetrics {
  const pair = (name: string, what: string) => {
    const total = metrics.counter(
      `${prefix}_${name}_total`,
      `Total number of ${what} split by mode and decision.`,
      labels,
    )
    const seconds = metrics.histogram(
      `${prefix}_${name}_duration_seconds`,
      `Latency of ${what} in seconds split by mode and decision.`,
      durations,
      labels,
    )
    return (mode: string, isAllowed: boolean, ms: number): void => {
      const values = [mode, isAllowed ? 'allowed' : 'denied']
      total(values).add()
      seconds(values).observe(ms / 1000)
    }
  }
  const attempts = pair('attempts', 'impersonation attempts')
  const checks = pair('authorization_attempts', 'authorization checks made by the impersonation handler')
  return {
    attempted: (mode, ms) => attempts(mode ?? '', mode !== undefined, ms),
    checked: checks,
  }
}
