/** An in-memory view of the quotas of all namespaces, and the only writer of their usage. */
import type { V1ResourceQuota } from '@kubernetes/client-node'
import type { ResourceList } from '../../../api/core/quota/resource-list.ts'
import type { Model } from '../../../machinery/object.ts'
import { conflict, objectModified, StatusError } from '../../../machinery/status-error.ts'
import { Informer } from '../../registry/informer.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import { ownWriter } from '../../registry/write/own-writer.ts'
import { updateObject } from '../../registry/write/update-object.ts'
import type { Writer } from '../../registry/write/write-context.ts'
import { AdmissionChain } from '../admission-chain.ts'
import type { PluginSources } from '../plugin.ts'
import { ChargesOfOthers } from './charges-of-others.ts'
import { type Quota, quotaOf } from './quota.ts'

/** A charged write that is not stored after this time, in ms, is considered failed. */
export const reservationMs = 5_000

export class QuotaCache {
  readonly #quotas: Informer<Quota>
  readonly #resource: ServedResource
  readonly #writer: Writer
  /** The number of quotas per namespace. */
  readonly #count = new Map<string, number>()
  /** By uid: quotas as this server wrote them, until the watch delivers them. */
  readonly #written = new Map<string, Quota>()
  /** Undefined if no other server writes to the store. */
  readonly #others: ChargesOfOthers | undefined

  /** `recount` is called with the namespace of a quota that is new or has changed limits. */
  constructor({ registry, find, log }: PluginSources, recount: (namespace: string) => void) {
    this.#resource = find('v1/resourcequotas')
    this.#others = registry.store.isShared ? new ChargesOfOthers(reservationMs) : undefined
    // Status updates of quotas do not pass admission plug-ins.
    this.#writer = ownWriter(registry, new AdmissionChain([]))
    this.#quotas = new Informer({
      registry,
      resource: this.#resource,
      read: quotaOf,
      log,
      changed: (quota, old, { namespace }) => {
        const difference = Number(quota !== undefined) - Number(old !== undefined)
        const count = (this.#count.get(namespace) ?? 0) + difference
        if (count > 0) this.#count.set(namespace, count)
        else this.#count.delete(namespace)
        const written = old && this.#written.get(old.uid)
        this.#others?.changed(quota, old, Date.now())
        if (written && (!quota || quota.uid !== written.uid || quota.revision >= written.revision))
          this.#written.delete(written.uid)
        // The first event after a start may concern a quota whose usage is out of date.
        if (quota && (!old || !isCounted(quota))) recount(namespace)
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

  /** Sorted by name. */
  in(namespace: string): Quota[] {
    const quotas = [...this.#quotas.in(namespace)].map((quota) => {
      const written = this.#written.get(quota.uid)
      return written && written.revision > quota.revision ? written : quota
    })
    return quotas.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Returns the usage to write for a counted one: charges of other servers remain until their objects are stored. */
  retained(quota: Quota, counted: ResourceList): ResourceList {
    return this.#others?.retained(quota, counted, Date.now()) ?? counted
  }

  /** Returns the quotas as stored, without deleted ones. */
  async newest(quotas: readonly Quota[]): Promise<Quota[]> {
    const { registry } = this.#writer
    const found = await Promise.all(
      quotas.map(({ namespace, name }) => registry.newest(this.#resource, this.#resource.key(namespace, name))),
    )
    return found.flatMap((object) => (object ? [quotaOf(object)] : []))
  }

  /** Writes the status of a quota if its revision is still current. Returns false if it is not. */
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
      this.#others?.isOwn(written)
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

/** True if the status has all limits of the spec, and no others. */
export const isCounted = ({ specHard, hard }: Quota): boolean => {
  const names = Object.keys(specHard)
  return names.length === Object.keys(hard).length && names.every((name) => hard[name] === specHard[name])
}
