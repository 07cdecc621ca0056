/**
 * What namespaces use of their quotas, counted anew: each period, when a quota limits something else, and when objects
 * go. A server that counts by itself (docs/decisions/0025-quota-is-counted-in-the-server.md) is left to it: then only
 * the period remains, and what it has not done in time.
 */
import { masked, sameAmounts } from '../../api/core/quota/resource-lists.ts'
import { type Caches, type Controller, type ReconcileContext, watch } from '../../client/controller/controller.ts'
import { keyOf } from '../../client/informers/informer.ts'
import { persistentVolumeClaims, pods, type ResourceQuota, resourceQuotas, services } from '../../client/kinds.ts'
import type { Resource } from '../../client/resource.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { hasEnded } from '../pods/phase.ts'
import { unlessGone } from '../refusals.ts'
import { type CountedKind, CountedKinds, usedOf } from './counted-kinds.ts'
import { Departures } from './departures.ts'

export interface QuotaOptions {
  readonly concurrency: number
  /** How often all is counted anew, in ms. */
  readonly syncPeriodMs: number
  /** Whether the server counts by itself. */
  readonly serverCounts?: (client: RestClient) => Promise<boolean>
}

/** A server that counts by itself has done so by then. Milliseconds. */
const serverTimeMs = 1000

/** Kinds that other controllers follow as well. */
const shared = [pods, services, persistentVolumeClaims] as readonly Resource[]

export function resourceQuotaController({
  concurrency,
  syncPeriodMs,
  serverCounts = isOwnServer,
}: QuotaOptions): Controller {
  const kinds = new CountedKinds()
  const departures = new Departures()
  let asked: Promise<boolean> | undefined
  /** Keys of quotas that are to be counted whatever their status says. */
  const due = new Set<string>()
  /** Keys of quotas that the server was given its time for. */
  const waited = new Set<string>()
  const leftToServer = (client: RestClient): Promise<boolean> =>
    (asked ??= serverCounts(client).catch((error) => {
      asked = undefined
      throw error
    }))

  function countAgain(namespace: string, { caches, requeue }: Pick<ReconcileContext, 'caches' | 'requeue'>): void {
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
    const known = shared.find(({ group, plural }) => group === resource.group && plural === resource.plural)
    if (known) return caches.in(known, namespace)
    return (
      departures.in(resource, namespace) ??
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
          changed(object, before, context) {
            // What is new, or asks for more, was held against the quota; what goes, ends or asks for less sets
            // something free.
            if (!before || (resource === pods && object && !(hasEnded(object) && !hasEnded(before)))) return
            leftToServer(context.client).then(
              (isLeft) => isLeft || countAgain(before.metadata.namespace ?? '', context),
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
        waited.delete(key)
        return
      }
      if (isCounted(quota) && !due.has(key)) return
      const isLeft = await leftToServer(client)
      if (isLeft && !due.has(key) && !waited.delete(key)) {
        waited.add(key)
        return requeue(key, serverTimeMs)
      }
      const counted = await kinds.of(quota, client)
      if (!isLeft) {
        const others = counted.filter(
          ({ resource }) => !shared.some(({ plural, group }) => plural === resource.plural && group === resource.group),
        )
        for (const { resource } of others)
          departures.follow({ client, resource, metadataOnly: !hasAmounts(resource), log }, (of) =>
            countAgain(of, context),
          )
      }
      const hard = quota.spec?.hard ?? {}
      let used = { ...quota.status?.used }
      for (const kind of counted) used = { ...used, ...usedOf(quota, kind, await objectsOf(kind, namespace, context)) }
      const status = { ...quota.status, hard, used: masked(used, Object.keys(hard)) }
      if (!isCounted(quota) || !sameAmounts(status.used, quota.status?.used ?? {}))
        await client.updateStatus(resourceQuotas, { ...quota, status }).catch(unlessGone)
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
      await departures.stop()
    },
  }
}

/** This project's, of which the version tells. */
async function isOwnServer(client: RestClient): Promise<boolean> {
  const { gitVersion } = await client.read<{ readonly gitVersion: string }>('/version')
  return gitVersion.includes('+t8s')
}

const allQuotas = (caches: Caches): string[] => [...caches.all(resourceQuotas)].map(keyOf)

/** Whether all that a quota shall limit is limited, and nothing else. */
export const isCounted = ({ spec, status }: ResourceQuota): boolean =>
  status?.used !== undefined && sameAmounts(spec?.hard ?? {}, status.hard ?? {})

/** Of what else is counted, only these use more than their number. */
const hasAmounts = ({ group, plural }: Resource): boolean => group === 'resource.k8s.io' && plural === 'resourceclaims'
