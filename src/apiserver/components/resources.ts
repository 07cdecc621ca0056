/**
 * What is kept and served: the store, encrypted where that is wanted, the registry on it, and the kinds that are on.
 */
import { allResources, type ResourceRegistry, resourceRegistry, type ServedGroup } from '../../api/registry.ts'
import { type ResourceDefinition, resourceKey } from '../../api/resource.ts'
import type { Log } from '../../lib/log/log.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { EncryptedStore, EncryptionAtRest, encryptionMetrics } from '../encryption/index.ts'
import type { HealthCheck } from '../health/health.ts'
import { Registry } from '../registry/registry.ts'
import { ServedApis } from '../registry/served-apis.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import type { ApiServerOptions } from '../server-options.ts'
import type { Lifetime } from './lifetime.ts'

export interface Resources {
  readonly registry: Registry
  /** A resource of Kubernetes' own by its key, whether it is on or not: `v1/pods`. */
  readonly find: (key: string) => ServedResource
  readonly apis: ServedApis
  readonly builtInGroups: readonly ServedGroup[]
  /** How the plug-ins are that keys are held by. */
  readonly healthChecks: readonly HealthCheck[]
}

/** From this verbosity on, versions that are off are logged. */
const skippedVerbosity = 1

/** Group versions that are known and not served. */
function versionsOff({ all, resources }: ResourceRegistry): Iterable<string> {
  const versionOf = ({ group, version }: ResourceDefinition): string => (group ? `${group}/${version}` : version)
  const served = new Set(resources.map(versionOf))
  return new Set(all.map(versionOf).filter((version) => !served.has(version)))
}

/**
 * Resolves when values can be read. Rejects with an Error for a bad `runtimeConfig`, and for an encryption that cannot
 * be.
 */
export async function openResources(
  options: ApiServerOptions,
  metrics: MetricsRegistry,
  lifetime: Lifetime,
  log: Log,
): Promise<Resources> {
  const encryption = options.encryption && new EncryptionAtRest(options.encryption, allResources, metrics, log)
  if (!encryption) encryptionMetrics(metrics)
  lifetime.onEnd(() => encryption?.stop())
  await encryption?.start()
  const store = encryption ? new EncryptedStore(options.store, encryption.transformerOf) : options.store
  const enabled = resourceRegistry({ runtimeConfig: (options.runtimeConfig ?? []).join(',') })
  for (const warning of enabled.warnings) log(warning, 'warning')
  if ((options.verbosity ?? 0) >= skippedVerbosity)
    for (const version of versionsOff(enabled)) log(`Skipping API ${version} because it has no resources.`, 'warning')
  const registry = new Registry(store, allResources, log, options.features)
  lifetime.onEnd(() => registry.stop())
  const apis = new ServedApis(
    enabled,
    enabled.resources.map((definition) => registry.served(definition)),
  )
  const find = (key: string): ServedResource =>
    registry.served(allResources.find((definition) => resourceKey(definition) === key)!)
  return { registry, find, apis, builtInGroups: enabled.groups, healthChecks: encryption?.healthChecks ?? [] }
}
