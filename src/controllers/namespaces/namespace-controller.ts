/** Deletes the content of deleted namespaces, reports what remains in their conditions, and finalizes empty ones. */
import { setTimeout as delay } from 'node:timers/promises'
import { type Controller, watch } from '../../client/controller/controller.ts'
import { type Namespace, namespaces } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { ignoreNotFound } from '../api-errors.ts'
import { statusFor } from './conditions.ts'
import { deleteContent } from './content.ts'

export interface NamespaceControllerOptions {
  readonly concurrency: number
  readonly syncPeriodMs: number
}

/**
 * Minimum time between the deletion and the finalization of a namespace, in ms: requests that were admitted before the
 * deletion may be written after it.
 */
const settleMs = 2000
/** First delay of a retry while content remains, in ms. It doubles up to half of the estimate. */
const firstRetryMs = 250
const finalizer = 'kubernetes'

export function namespaceController({ concurrency, syncPeriodMs }: NamespaceControllerOptions): Controller {
  /** Number of attempts by uid of the namespace. */
  const attempts = new Map<string, number>()
  return {
    name: 'namespace-controller',
    concurrency,
    watches: [
      watch({
        resource: namespaces,
        keys: ({ metadata }) => (metadata.deletionTimestamp ? [metadata.name ?? ''] : []),
        onChange(object, old) {
          if (!object) attempts.delete(old?.metadata.uid ?? '')
        },
      }),
    ],
    async reconcile(name, { client, requeue }) {
      const namespace = await client.get(namespaces, '', name).catch(ignoreNotFound)
      const { deletionTimestamp, uid = '' } = namespace?.metadata ?? {}
      if (!namespace || !deletionTimestamp || !namespace.spec?.finalizers?.length) return
      const deletedAt = Date.parse(deletionTimestamp)
      const started = Date.now()
      const report = await deleteContent(client, name, deletedAt, Date.now)
      const status = statusFor(namespace.status, report, `${new Date().toISOString().slice(0, 19)}Z`)
      const updated = status
        ? await client.updateStatus(namespaces, { ...namespace, status }).catch(ignoreNotFound)
        : namespace
      if (!updated) return
      const problems = [...(report.discoveryFailure ? [report.discoveryFailure] : []), ...report.failures]
      if (problems.length > 0) throw new Error(problems.join('; '))
      if (report.remaining.length > 0) {
        const attempt = attempts.get(uid) ?? 0
        attempts.set(uid, attempt + 1)
        requeue(name, Math.min(firstRetryMs * 2 ** attempt, (report.estimate / 2 + 1) * 1000))
      } else if (started - deletedAt < settleMs) requeue(name, settleMs - (started - deletedAt))
      else await finalize(client, updated).catch(ignoreNotFound)
    },
    async run({ caches, requeue }, signal) {
      for (;;) {
        await delay(syncPeriodMs, undefined, { signal, ref: false }).catch(() => {})
        if (signal.aborted) return
        for (const { metadata } of caches.all(namespaces)) if (metadata.deletionTimestamp) requeue(metadata.name ?? '')
      }
    },
  }
}

const finalize = (client: RestClient, namespace: Namespace): Promise<Namespace> => {
  const finalizers = namespace.spec?.finalizers?.filter((name) => name !== finalizer) ?? []
  return client.update(namespaces, { ...namespace, spec: { ...namespace.spec, finalizers } }, 'finalize')
}
