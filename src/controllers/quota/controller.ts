/**
 * Recounts the usage of quotas: periodically, when a quota's limits change, and when objects are deleted. If the server
 * counts usage itself (docs/decisions/0025-quota-is-counted-in-the-server.md), only the period applies, and quotas that
 * the server has not counted in time.
 */
import { onlyNamed, sameAmounts } from '../../api/core/quota/resource-lists.ts'
import { type Caches, type Controller, type ReconcileContext, watch } from '../../client/controller/controller.ts'
import { keyOf } from '../../client/informers/informer.ts'
import { persistentVolumeClaims, pods, type ResourceQuota, resourceQuotas, services } from '../../client/kinds.ts'
import type { Resource } from '../../client/resource.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { ignoreNotFound } from '../api-errors.ts'
import { hasEnded } from '../pods/phase.ts'
import { type CountedKind, CountedKinds, usageOfKind } from './counted-kinds.ts'
import { DeletionInformers } from './deletion-informers.ts'

export interface QuotaOptions {
  readonly concurrency: number
  /** Period of recounting all quotas, in ms. */
  readonly syncPeriodMs: number
  /** Resolves with true if the server counts usage itself. */
  readonly isCountedByServer?: (client: RestClient) => Promise<boolean>
}

/** Time in which a server that counts usage itself has done so, in ms. */
const serverDelayMs = 1000

/** Kinds that other controllers watch too, through shared informers. */
const shared = [pods, services, persistentVolumeClaims] as readonly Resource[]

export function resourceQuotaController({
  concurrency,
  syncPeriodMs,
  isCountedByServer: serverCounts = isOwnServer,
}: QuotaOptions): Controller {
  const kinds = new CountedKinds()
  const deletionInformers = new DeletionInformers()
  let serverCheck: Promise<boolean> | undefined
  /** Keys of quotas to count regardless of their status. */
  const due = new Set<string>()
  /** Keys of quotas that were delayed to let the server count them. */
  const delayed = new Set<string>()
  const isLeftToServer = (client: RestClient): Promise<boolean> =>
    (serverCheck ??= serverCounts(client).catch((error) => {
      serverCheck = undefined
      throw error
    }))

  function recount(namespace: string, { caches, requeue }: Pick<ReconcileContext, 'caches' | 'requeue'>): void {
    for (const quota of caches.in(resourceQuotas, namespace)) {
      due.add(keyOf(quota))
      requeue(keyOf(quota))
    }
  }

  async function objectsOf(
    { resource }: CountedKind,
    namespace: string,
    { caches, client }: ReconcileContext,
  ): Promise<Iterable<KubeObject>> {
    const watched = shared.find(({ group, plural }) => group === resource.group && plural === resource.plural)
    if (watched) return caches.in(watched, namespace)
    return (
      deletionInformers.in(resource, namespace) ??
      (await client.list(resource, { namespace, metadataOnly: !hasAmounts(resource) })).items
    )
  }

  return {
    name: 'resourcequota-controller',
    queue: 'resourcequota_primary',
    concurrency,
    watches: [
      watch({ resource: resourceQuotas, when: (quota) => quota !== undefined && !isCounted(quota) }),
      ...shared.map((resource) =>
        watch({
          resource,
          keys: () => [],
          onChange(object, before, context) {
            // Admission has counted new objects and larger requests; deletions, ended pods and smaller requests
            // reduce the usage.
            if (!before || (resource === pods && object && !(hasEnded(object) && !hasEnded(before)))) return
            isLeftToServer(context.client).then(
              (isLeftToIt) => isLeftToIt || recount(before.metadata.namespace ?? '', context),
              () => {},
            )
          },
        }),
      ),
    ],
    async reconcile(key, context) {
      const { caches, client, requeue, log } = context
      const [namespace = '', name = ''] = key.split('/')
      const quota = caches.get(resourceQuotas, namespace, name)
      if (!quota) {
        due.delete(key)
        delayed.delete(key)
        return
      }
      if (isCounted(quota) && !due.has(key)) return
      const isLeftToIt = await isLeftToServer(client)
      if (isLeftToIt && !due.has(key) && !delayed.delete(key)) {
        delayed.add(key)
        return requeue(key, serverDelayMs)
      }
      const counted = await kinds.of(quota, client)
      if (!isLeftToIt) {
        const others = counted.filter(
          ({ resource }) => !shared.some(({ plural, group }) => plural === resource.plural && group === resource.group),
        )
        for (const { resource } of others)
          deletionInformers.start({ client, resource, metadataOnly: !hasAmounts(resource), log }, (of) =>
            recount(of, context),
          )
      }
      const hard = quota.spec?.hard ?? {}
      let used = { ...quota.status?.used }
      for (const kind of counted)
        used = { ...used, ...usageOfKind(quota, kind, await objectsOf(kind, namespace, context)) }
      const status = { ...quota.status, hard, used: onlyNamed(used, Object.keys(hard)) }
      if (!isCounted(quota) || !sameAmounts(status.used, quota.status?.used ?? {}))
        await client.updateStatus(resourceQuotas, { ...quota, status }).catch(ignoreNotFound)
      due.delete(key)
    },
    async run({ caches, requeue }, signal) {
      const timer = setInterval(() => {
        for (const quota of allQuotas(caches)) {
          due.add(quota)
          requeue(quota)
        }
      }, syncPeriodMs).unref()
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      clearInterval(timer)
      await deletionInformers.stop()
    },
  }
}

/** Returns true for this project's server, by its version. */
async function isOwnServer(client: RestClient): Promise<boolean> {
  const { gitVersion } = await client.read<{ readonly gitVersion: string }>('/version')
  return gitVersion.includes('+t8s')
}

const allQuotas = (caches: Caches): string[] => [...caches.all(resourceQuotas)].map(keyOf)

/** Returns true if the status covers exactly the limits of the spec. */
export const isCounted = ({ spec, status }: ResourceQuota): boolean =>
  status?.used !== undefined && sameAmounts(spec?.hard ?? {}, status.hard ?? {})

/** Of the other kinds, only ResourceClaims use more than an object count. */
const hasAmounts = ({ group, plural }: Resource): boolean => group === 'resource.k8s.io' && plural === 'resourceclaims'
