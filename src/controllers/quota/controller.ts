/**
 * Recounts the usage of quotas: periodically, when a quota's limits change, and when objects are deleted. If the server
 * counts usage itself (docs/decisions/0025-quota-is-counted-in-the-server.md), only the period applies, and quotas that
 * the server has not counted in time.
 */
import { once } from 'node:events'
import { type Controller, watch } from '../../client/controller/controller.ts'
import { pods, resourceQuotas } from '../../client/kinds.ts'
import type { Resource } from '../../client/resource.ts'
import { every } from '../../lib/clock/clock.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { hasEnded } from '../pods/phase.ts'
import { isCounted, QuotaSync } from './quota-sync.ts'
import { type CountingCheck, checkedOnce, isOwnServer } from './server-counting.ts'
import { sharedKinds } from './usage-counter.ts'

export interface QuotaOptions {
  readonly concurrency: number
  /** Period of recounting all quotas, in ms. */
  readonly syncPeriodMs: number
  /** Default: true for this project's server. */
  readonly isCountedByServer?: CountingCheck
}

export function resourceQuotaController({
  concurrency,
  syncPeriodMs,
  isCountedByServer = isOwnServer,
}: QuotaOptions): Controller {
  const quotas = new QuotaSync(checkedOnce(isCountedByServer))
  return {
    name: 'resourcequota-controller',
    queue: 'resourcequota_primary',
    concurrency,
    watches: [
      watch({ resource: resourceQuotas, when: (quota) => quota !== undefined && !isCounted(quota) }),
      ...sharedKinds.map((resource) =>
        watch({
          resource,
          keys: () => [],
          onChange(object, old, context) {
            if (old && mayReduceUsage(resource, object, old))
              void quotas.recountUnlessServer(old.metadata.namespace ?? '', context)
          },
        }),
      ),
    ],
    async reconcile(key, context) {
      const [namespace = '', name = ''] = key.split('/')
      const quota = context.caches.get(resourceQuotas, namespace, name)
      if (quota) await quotas.sync(quota, context)
      else quotas.forget(key)
    },
    async run({ caches, requeue, clock }, signal) {
      const recounts = every(clock, syncPeriodMs, () => quotas.recount(caches.all(resourceQuotas), requeue))
      if (!signal.aborted) await once(signal, 'abort')
      recounts.cancel()
      await quotas.stop()
    },
  }
}

/** Admission counts new objects and larger requests; deletions, ended pods and smaller requests free usage. */
const mayReduceUsage = (resource: Resource, object: KubeObject | undefined, old: KubeObject): boolean =>
  resource !== pods || !object || (hasEnded(object) && !hasEnded(old))
