/** Deletes the content of deleted namespaces, reports what remains in their conditions, and finalizes empty ones. */
import { type Controller, watch } from '../../client/controller/controller.ts'
import { type Namespace, namespaces } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { sleep } from '../../lib/clock/clock.ts'
import { ignoreNotFound } from '../api-errors.ts'
import { rfc3339 } from '../pods/times.ts'
import { statusFor } from './conditions.ts'
import { deleteContent } from './content.ts'

export interface NamespaceControllerOptions {
  readonly concurrency: number
  readonly syncPeriodMs: number
}

/**
 * Minimum time between the deletion and the finalization of a namespace, in ms of real time: requests that were
 * admitted before the deletion may be written after it.
 */
const settleMs = 2000
/** The resolution of deletion timestamps, in ms. */
const timestampMs = 1000
/** First delay of a retry while content remains, in ms. It doubles up to half of the estimate. */
const firstRetryMs = 250
const finalizer = 'kubernetes'

interface DeletionMemory {
  attempts: number
  /** In ms of `performance.now()`. */
  readonly settlesAt: number
}

/** `ageMs` is the time since the deletion; the part of it that the clock was moved does not count. */
const firstSeen = (ageMs: number): DeletionMemory => ({
  attempts: 0,
  settlesAt: performance.now() + settleMs - Math.min(Math.max(ageMs, 0), timestampMs),
})

export function namespaceController({ concurrency, syncPeriodMs }: NamespaceControllerOptions): Controller {
  const memory = new Map<string, DeletionMemory>()
  return {
    name: 'namespace-controller',
    concurrency,
    watches: [
      watch({
        resource: namespaces,
        keys: ({ metadata }) => (metadata.deletionTimestamp ? [metadata.name ?? ''] : []),
        onChange(object, old) {
          if (!object) memory.delete(old?.metadata.uid ?? '')
        },
      }),
    ],
    async reconcile(name, { client, requeue, clock }) {
      const namespace = await client.get(namespaces, '', name).catch(ignoreNotFound)
      const { deletionTimestamp, uid = '' } = namespace?.metadata ?? {}
      if (!namespace || !deletionTimestamp || !namespace.spec?.finalizers?.length) return
      const deletedAt = Date.parse(deletionTimestamp)
      const known = memory.get(uid) ?? firstSeen(clock.now() - deletedAt)
      memory.set(uid, known)
      const settlesInMs = known.settlesAt - performance.now()
      const report = await deleteContent(client, name, deletedAt, () => clock.now())
      const status = statusFor(namespace.status, report, rfc3339(clock.now()))
      const updated = status
        ? await client.updateStatus(namespaces, { ...namespace, status }).catch(ignoreNotFound)
        : namespace
      if (!updated) return
      const problems = [...(report.discoveryFailure ? [report.discoveryFailure] : []), ...report.failures]
      if (problems.length > 0) throw new Error(problems.join('; '))
      if (report.remaining.length > 0) {
        const retryMs = Math.min(firstRetryMs * 2 ** known.attempts++, (report.estimate / 2 + 1) * 1000)
        requeue(name, retryMs, { isRealTime: true })
        // The grace period of pods ends early when the clock is moved.
        requeue(name, report.estimate * 1000)
      } else if (settlesInMs > 0) requeue(name, settlesInMs, { isRealTime: true })
      else await finalize(client, updated).catch(ignoreNotFound)
    },
    async run({ caches, requeue, clock }, signal) {
      for (;;) {
        await sleep(clock, syncPeriodMs, signal)
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
