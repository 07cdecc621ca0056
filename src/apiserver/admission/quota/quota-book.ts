/** The quotas of all namespaces, in memory, and the one hand that writes what is used of them. */
import type { V1ResourceQuota } from '@kubernetes/client-node'
import type { ResourceList } from '../../../api/core/quota/resource-list.ts'
import type { Model } from '../../../machinery/object.ts'
import { conflict, objectModified, StatusError } from '../../../machinery/status-error.ts'
import { FollowedObjects } from '../../registry/followed/followed-objects.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import { ownWriter } from '../../registry/write/own-writer.ts'
import { updateObject } from '../../registry/write/update-object.ts'
import type { Writer } from '../../registry/write/write-context.ts'
import { AdmissionChain } from '../admission-chain.ts'
import type { PluginSources } from '../plugin.ts'
import { type Quota, quotaOf } from './quota.ts'

export class QuotaBook {
  readonly #quotas: FollowedObjects<Quota>
  readonly #resource: ServedResource
  readonly #writer: Writer
  /** By namespace: how many quotas it has. */
  readonly #count = new Map<string, number>()
  /** By uid: a quota as this server has written it, while others have not told of it yet. */
  readonly #written = new Map<string, Quota>()

  /** `toBeCounted` is told of namespaces with a quota that is new, or limits something else now. */
  constructor({ registry, find, log }: PluginSources, toBeCounted: (namespace: string) => void) {
    this.#resource = find('v1/resourcequotas')
    // What is used of a quota is nobody else's affair: no plug-in looks at these writes.
    this.#writer = ownWriter(registry, new AdmissionChain([]))
    this.#quotas = new FollowedObjects({
      registry,
      resource: this.#resource,
      read: quotaOf,
      log,
      changed: (quota, before, { namespace }) => {
        const difference = Number(quota !== undefined) - Number(before !== undefined)
        const count = (this.#count.get(namespace) ?? 0) + difference
        if (count > 0) this.#count.set(namespace, count)
        else this.#count.delete(namespace)
        const written = before && this.#written.get(before.uid)
        if (written && (!quota || quota.uid !== written.uid || quota.revision >= written.revision))
          this.#written.delete(written.uid)
        // What was there before the server started may have been counted long ago.
        if (quota && (!before || !isCounted(quota))) toBeCounted(namespace)
      },
    })
  }

  start(): Promise<void> {
    return this.#quotas.start()
  }

  stop(): void {
    this.#quotas.stop()
  }

  has(namespace: string): boolean {
    return this.#count.has(namespace)
  }

  /** In the order of their names. */
  in(namespace: string): Quota[] {
    const quotas = [...this.#quotas.in(namespace)].map((quota) => {
      const written = this.#written.get(quota.uid)
      return written && written.revision > quota.revision ? written : quota
    })
    return quotas.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** The quotas as the store has them; those that have gone are left out. */
  async newest(quotas: readonly Quota[]): Promise<Quota[]> {
    const { registry } = this.#writer
    const found = await Promise.all(
      quotas.map(({ namespace, name }) => registry.newest(this.#resource, this.#resource.key(namespace, name))),
    )
    return found.flatMap((object) => (object ? [quotaOf(object)] : []))
  }

  /** Writes the status of a quota if nobody else has written it since; whether it did. */
  async write(quota: Quota, status: { readonly hard: ResourceList; readonly used: ResourceList }): Promise<boolean> {
    const { namespace, name, revision } = quota
    try {
      const { object } = await updateObject(
        { ...this.#writer, resource: this.#resource, namespace, name, subresource: 'status' },
        {
          conditional: true,
          startsFromLive: true,
          change(live) {
            if (live?.metadata.resourceVersion !== String(revision))
              throw conflict({ group: '', name: 'resourcequotas' }, name, objectModified)
            const changed: Model<V1ResourceQuota> = live
            changed.status = { ...changed.status, ...status }
            return { object: changed }
          },
        },
      )
      const written = quotaOf(object)
      if (
        [...this.#quotas.in(namespace)].some(({ uid, revision }) => uid === written.uid && revision < written.revision)
      )
        this.#written.set(written.uid, written)
      return true
    } catch (error) {
      if (error instanceof StatusError && (error.code === 409 || error.code === 404)) return false
      throw error
    }
  }
}

/** Whether all that a quota shall limit is limited, and nothing else. */
export const isCounted = ({ wanted, hard }: Quota): boolean => {
  const names = Object.keys(wanted)
  return names.length === Object.keys(hard).length && names.every((name) => hard[name] === wanted[name])
}
