/** The store, encrypted if the options say so, the registry on it, and the resources that are served. */
import { setTimeout as delay } from 'node:timers/promises'
import { allResources, type ResourceRegistry, resourceRegistry } from '../../api/registry.ts'
import { type ResourceDefinition, resourceKey } from '../../api/resource.ts'
import type { Store } from '../../storage/store.ts'
import { EncryptionAtRest, encryptionMetrics, TransformedStore } from '../encryption/index.ts'
import { otherNames, storeHealth } from '../health/store-health.ts'
import { placesIn } from '../proxy/index.ts'
import { cacheMetrics } from '../registry/cache-metrics.ts'
import { ObjectCounts } from '../registry/object-counts.ts'
import { type OtherStores, Registry } from '../registry/registry.ts'
import { ServedApis } from '../registry/served-apis.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import { watchMetrics } from '../registry/watch-metrics.ts'
import type { OtherStore } from '../server-options.ts'
import { storageFormats } from '../storage-format/index.ts'
import { component } from './component.ts'

/** From this verbosity on, versions that are off are logged. */
const skippedVerbosity = 1
/** Interval in ms of counts of stored objects. */
const defaultCountMs = 60_000

/** Rejects with an Error for a bad `runtimeConfig`, and for an encryption that cannot work. */
export const resources = component({
  name: 'resources',
  needs: ['options', 'metrics', 'log'],
  gives: ['registry', 'find', 'apis', 'builtInGroups', 'encryptionChecks', 'storeHealth', 'otherStoreHealth', 'places'],
  async start({ options, metrics, log }, lifetime) {
    const encryption = options.encryption && new EncryptionAtRest(options.encryption, allResources, metrics, log)
    if (!encryption) encryptionMetrics(metrics)
    lifetime.onEnd(() => encryption?.stop())
    await encryption?.start()
    const transformerOf = storageFormats({
      definitions: allResources,
      served: (definition) => registry.served(definition),
      mediaType: options.storageMediaType ?? 'application/json',
      encryption: encryption?.transformerOf,
    })
    const store = new TransformedStore(options.store, transformerOf)
    const enabled = resourceRegistry({ runtimeConfig: (options.runtimeConfig ?? []).join(',') })
    for (const warning of enabled.warnings) log(warning, 'warning')
    if ((options.verbosity ?? 0) >= skippedVerbosity)
      for (const version of versionsOff(enabled)) log(`Skipping API ${version} because it has no resources.`, 'warning')
    const others = (options.otherStores ?? []).map((other) => new TransformedStore(other.store, transformerOf))
    const otherStores = choiceOf(options.otherStores ?? [], others)
    const registry: Registry = new Registry(
      store,
      allResources,
      log,
      options.features,
      otherStores,
      options.clock ?? options.movableClock,
    )
    lifetime.onEnd(() => registry.stop())
    const apis = new ServedApis(
      enabled,
      enabled.resources.map((definition) => registry.served(definition)),
    )
    const find = (key: string): ServedResource =>
      registry.served(allResources.find((definition) => resourceKey(definition) === key)!)
    const counts = new ObjectCounts({
      registry,
      served: () => apis.all(),
      periodMs: options.objectCountMs ?? defaultCountMs,
      random: Math.random,
      delay: (ms, signal) => delay(ms, undefined, { signal, ref: false }),
    })
    lifetime.onEnd(() => counts.stop())
    cacheMetrics(metrics, registry, counts)
    watchMetrics(metrics, () => apis.all())
    return {
      registry,
      find,
      apis,
      builtInGroups: enabled.groups,
      encryptionChecks: encryption?.healthChecks ?? [],
      storeHealth: storeHealth(registry.store, log, options.storeHealth),
      otherStoreHealth: others.map((other, i) => storeHealth(other, log, options.storeHealth, otherNames(i))),
      places: placesIn(registry, find, options.kubelets),
    }
  },
})

/** Chooses the store of a resource by its group and name. */
function choiceOf(named: readonly OtherStore[], stores: readonly Store[]): OtherStores {
  const byName = new Map(
    named.flatMap(({ resources }, i) => resources.map(({ group, plural }) => [`${group}/${plural}`, stores[i]!])),
  )
  return ({ definition: { group, plural } }) => byName.get(`${group}/${plural}`)
}

/** Group versions that are known and not served. */
function versionsOff({ all, resources }: ResourceRegistry): Iterable<string> {
  const versionOf = ({ group, version }: ResourceDefinition): string => (group ? `${group}/${version}` : version)
  const served = new Set(resources.map(versionOf))
  return new Set(all.map(versionOf).filter((version) => !served.has(version)))
}
