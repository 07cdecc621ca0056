/** What `/healthz`, `/livez` and `/readyz` look at. */
import type { BootSequence } from './boot-sequence.ts'
import { type HealthCheck, type HealthPath, log, ping } from './health.ts'

export interface CheckedParts {
  readonly store: HealthCheck
  readonly boot: BootSequence
  /** A server that is ending is alive, but not ready. */
  readonly isEnding: () => boolean
  /** Of parts that not every server has; a server that waits for them is alive. */
  readonly others: readonly HealthCheck[]
}

export function healthChecks({
  store,
  boot,
  isEnding,
  others,
}: CheckedParts): Readonly<Record<HealthPath, readonly HealthCheck[]>> {
  const alive = [ping, log, store]
  const first = [...alive, ...others]
  const readiness: HealthCheck = { name: 'etcd-readiness', check: store.check }
  // The server listens only when they are there.
  const informers: HealthCheck = { name: 'informer-sync', check: () => undefined }
  const shutdown: HealthCheck = { name: 'shutdown', check: () => (isEnding() ? 'process is shutting down' : undefined) }
  return {
    healthz: [...first, ...boot.checks],
    livez: [...alive, ...boot.liveChecks],
    readyz: [...first, readiness, informers, ...boot.checks, shutdown],
  }
}
