/** What `/healthz`, `/livez` and `/readyz` look at. */
import { type HealthCheck, type HealthPath, log, ping } from './health.ts'

/** `store` is the check of the store; a server that is `ending` is alive, but not ready. `others` belong to parts that not every server has. */
export function healthChecks(
  store: HealthCheck,
  ending: () => boolean,
  others: readonly HealthCheck[] = [],
): Readonly<Record<HealthPath, readonly HealthCheck[]>> {
  const live = [ping, log, store, ...others]
  // The server listens only when they are there.
  const roles: HealthCheck = { name: 'poststarthook/rbac/bootstrap-roles', check: () => undefined }
  const informers: HealthCheck = { name: 'informer-sync', check: () => undefined }
  const shutdown: HealthCheck = { name: 'shutdown', check: () => (ending() ? 'process is shutting down' : undefined) }
  return { healthz: [...live, roles], livez: [...live, roles], readyz: [...live, informers, roles, shutdown] }
}
