/**
 * Empties namespaces that are deleted, says in their conditions what holds them, and lets them go when nothing is left.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { type Controller, watch } from '../../client/controller/controller.ts'
import { type Namespace, namespaces } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { unlessGone } from '../refusals.ts'
import { statusAfter } from './conditions.ts'
import { deleteContent } from './content.ts'

export interface NamespaceControllerOptions {
  readonly concurrency: number
  readonly syncPeriodMs: number
}

/**
 * A namespace is not let go earlier after its deletion: a server admits requests by what it knows of namespaces, and
 * what was admitted before the deletion may be written after it.
 */
const settleMs = 2000
/** What remains is looked at again after this, then after twice as long, up to half of what it may take. */
const firstLookMs = 250
const finalizer = 'kubernetes'

export function namespaceController({ concurrency, syncPeriodMs }: NamespaceControllerOptions): Controller {
  /** How often a namespace that does not go away was looked at, by uid. */
  const looks = new Map<string, number>()
  return {
    name: 'namespace-controller',
    concurrency,
    watches: [
      watch({
        resource: namespaces,
        keys: ({ metadata }) => (metadata.deletionTimestamp ? [metadata.name ?? ''] : []),
        onChange(object, before) {
          if (!object) looks.delete(before?.metadata.uid ?? '')
        },
      }),
    ],
    async reconcile(name, { client, requeue }) {
      const namespace = await client.get(namespaces, '', name).catch(unlessGone)
      const { deletionTimestamp, uid = '' } = namespace?.metadata ?? {}
      if (!namespace || !deletionTimestamp || !namespace.spec?.finalizers?.length) return
      const deletedAt = Date.parse(deletionTimestamp)
      const started = Date.now()
      const report = await deleteContent(client, name, deletedAt, Date.now)
      const status = statusAfter(namespace.status, report, `${new Date().toISOString().slice(0, 19)}Z`)
      const told = status
        ? await client.updateStatus(namespaces, { ...namespace, status }).catch(unlessGone)
        : namespace
      if (!told) return
      const troubles = [...(report.discoveryFailure ? [report.discoveryFailure] : []), ...report.failures]
      if (troubles.length > 0) throw new Error(troubles.join('; '))
      if (report.remaining.length > 0) {
        const look = looks.get(uid) ?? 0
        looks.set(uid, look + 1)
        requeue(name, Math.min(firstLookMs * 2 ** look, (report.estimate / 2 + 1) * 1000))
      } else if (started - deletedAt < settleMs) requeue(name, settleMs - (started - deletedAt))
      else await letGo(client, told).catch(unlessGone)
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

const letGo = (client: RestClient, namespace: Namespace): Promise<Namespace> => {
  const finalizers = namespace.spec?.finalizers?.filter((name) => name !== finalizer) ?? []
  return client.update(namespaces, { ...namespace, spec: { ...namespace.spec, finalizers } }, 'finalize')
}
