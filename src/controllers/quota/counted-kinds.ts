/** The kinds that quotas count, from discovery, and the usage of their objects. */
import type { ResourceList } from '../../api/core/quota/resource-list.ts'
import { onlyNamed, sum } from '../../api/core/quota/resource-lists.ts'
import { type Scope, type Usage, usageOf } from '../../api/core/quota/usage/index.ts'
import { type DiscoveredResource, discover } from '../../client/discovery/discovery.ts'
import type { ResourceQuota } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import type { KubeObject } from '../../machinery/object.ts'

export interface CountedKind {
  readonly resource: DiscoveredResource
  readonly usage: Usage
  /** The quota's resource names that objects of the kind use. */
  readonly names: readonly string[]
}

/** Time for which discovery results are cached, as upstream, in ms. */
const discoveryTtlMs = 30_000

export class CountedKinds {
  #resources: Promise<readonly DiscoveredResource[]> | undefined
  #until = 0

  /** Returns the kinds that a quota counts. Rejects if discovery fails. */
  async of(quota: ResourceQuota, client: RestClient): Promise<CountedKind[]> {
    const names = Object.keys(quota.spec?.hard ?? {})
    return (await this.#known(client)).flatMap((resource) => {
      const usage = usageOf({ group: resource.group, name: resource.plural })
      const matching = usage?.matching(names) ?? []
      return usage && matching.length > 0 ? [{ resource, usage, names: matching }] : []
    })
  }

  async #known(client: RestClient): Promise<readonly DiscoveredResource[]> {
    if (!this.#resources || performance.now() > this.#until) {
      this.#until = performance.now() + discoveryTtlMs
      this.#resources = discover(client).then(({ resources }) =>
        resources.filter(
          ({ preferred, namespaced, verbs }) => preferred && namespaced && verbs.has('list') && verbs.has('create'),
        ),
      )
      this.#resources.catch(() => {
        this.#until = 0
      })
    }
    return this.#resources
  }
}

/** Returns the usage of objects of a kind within the quota's scopes. */
export function usageOfKind(
  { spec }: ResourceQuota,
  { usage, names }: CountedKind,
  objects: Iterable<KubeObject>,
): ResourceList {
  const scopes: readonly Scope[] = [
    ...(spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' })),
    ...(spec?.scopeSelector?.matchExpressions ?? []),
  ]
  let used: ResourceList = Object.fromEntries(names.map((name) => [name, '0']))
  for (const object of objects)
    if (scopes.every((scope) => usage.inScope?.(scope, object) ?? false))
      used = sum(used, onlyNamed(usage.usage(object), names))
  return used
}
