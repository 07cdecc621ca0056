/** The checks of `/healthz`, `/livez` and `/readyz`. */
import type { BootSequence } from './boot-sequence.ts'
import { type HealthCheck, type HealthPath, log, ping } from './health.ts'

export interface HealthSources {
  readonly store: HealthCheck
  readonly storeReadiness: HealthCheck
  /** Of other stores. */
  readonly otherStores: readonly { readonly check: HealthCheck; readonly readiness: HealthCheck }[]
  readonly boot: BootSequence
  /** A server that shuts down is alive, but not ready. */
  readonly isShuttingDown: () => boolean
  /** Checks that not every server has; they do not affect liveness. */
  readonly otherChecks: readonly HealthCheck[]
}

export function healthChecks({
  store,
  storeReadiness,
  otherStores,
  boot,
  isShuttingDown,
  otherChecks,
}: HealthSources): Readonly<Record<HealthPath, readonly HealthCheck[]>> {
  const alive = [ping, log, store, ...otherStores.map(({ check }) => check)]
  const first = [...alive, ...otherChecks]
  // The server listens only after they have synced.
  const informers: HealthCheck = { name: 'informer-sync', check: () => undefined }
  const shutdown: HealthCheck = {
    name: 'shutdown',
    check: () => (isShuttingDown() ? 'process is shutting down' : undefined),
  }
  return {
    healthz: [...first, ...boot.checks],
    livez: [...alive, ...boot.liveChecks],
    readyz: [
      ...first,
      storeReadiness,
      ...otherStores.map(({ readiness }) => readiness),
      informers,
      ...boot.checks,
      shutdown,
    ],
  }
}
