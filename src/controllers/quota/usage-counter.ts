/** Counts the usage of quotas from objects of shared informers, of its own informers, or from lists. */
import type { ResourceList } from '../../api/core/quota/resource-list.ts'
import type { ReconcileContext } from '../../client/controller/controller.ts'
import { persistentVolumeClaims, pods, type ResourceQuota, services } from '../../client/kinds.ts'
import type { Resource } from '../../client/resource.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { type CountedKind, usageOfKind } from './counted-kinds.ts'
import { DeletionInformers } from './deletion-informers.ts'

/** Kinds that other controllers watch too, through shared informers. */
export const sharedKinds = [pods, services, persistentVolumeClaims] as readonly Resource[]

export class UsageCounter {
  readonly #informers = new DeletionInformers()

  /** Starts informers of the kinds that are not shared. `onDelete` gets the namespace of each deleted object. */
  watch(kinds: readonly CountedKind[], { client, log }: ReconcileContext, onDelete: (namespace: string) => void): void {
    for (const { resource } of kinds) {
      if (sharedKind(resource)) continue
      this.#informers.start({ client, resource, metadataOnly: !hasAmounts(resource), log }, onDelete)
    }
  }

  /** Resolves with the usage of these kinds. */
  async count(quota: ResourceQuota, kinds: readonly CountedKind[], context: ReconcileContext): Promise<ResourceList> {
    const { namespace = '' } = quota.metadata
    let used: ResourceList = {}
    for (const kind of kinds)
      used = { ...used, ...usageOfKind(quota, kind, await this.#objects(kind, namespace, context)) }
    return used
  }

  async stop(): Promise<void> {
    await this.#informers.stop()
  }

  async #objects(
    { resource }: CountedKind,
    namespace: string,
    { caches, client }: ReconcileContext,
  ): Promise<Iterable<KubeObject>> {
    const shared = sharedKind(resource)
    if (shared) return caches.in(shared, namespace)
    const watched = this.#informers.in(resource, namespace)
    return watched ?? (await client.list(resource, { namespace, metadataOnly: !hasAmounts(resource) })).items
  }
}

const sharedKind = ({ group, plural }: Resource): Resource | undefined =>
  sharedKinds.find((shared) => shared.group === group && shared.plural === plural)

/** Of the other kinds, only ResourceClaims use more than an object count. */
const hasAmounts = ({ group, plural }: Resource): boolean => group === 'resource.k8s.io' && plural === 'resourceclaims'
