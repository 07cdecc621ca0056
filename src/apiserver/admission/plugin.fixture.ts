/** A fixture for tests of plug-ins: a registry of all kinds on an in-memory store, and the attributes of writes. */
import { defaultFeatures } from '../../api/features/feature-gates.ts'
import { allResources, resourceRegistry } from '../../api/registry.ts'
import { resourceKey } from '../../api/resource.ts'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { memoryStore } from '../../storage/memory/index.ts'
import { alwaysAllow } from '../authorization/fixed-authorizers.ts'
import { Registry } from '../registry/registry.ts'
import { ServedApis } from '../registry/served-apis.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import type { AdmissionAttributes } from '../registry/write/admission.ts'
import { createObject } from '../registry/write/create-object.ts'
import { ownWriter } from '../registry/write/own-writer.ts'
import { AdmissionChain } from './admission-chain.ts'
import type { AdmissionPlugin, PluginSources } from './plugin.ts'

export interface PluginFixture {
  readonly sources: PluginSources
  readonly logged: readonly string[]
  /** Stores an object as the server itself. `resource` is for example `v1/pods`. */
  store(resource: string, object: object): Promise<void>
  /** The attributes of a write, with all defaults of the object filled in. */
  write(resource: string, object: object, more?: Partial<AdmissionAttributes>): AdmissionAttributes
}

export function pluginFixture(configuration?: unknown, features = defaultFeatures): PluginFixture {
  const logged: string[] = []
  const log = (line: string): void => void logged.push(line)
  const registry = new Registry(memoryStore(), allResources, log, features)
  const find = (key: string): ServedResource =>
    registry.served(allResources.find((definition) => resourceKey(definition) === key)!)
  const writer = ownWriter(registry, new AdmissionChain([]))
  return {
    logged,
    sources: {
      registry,
      find,
      apis: new ServedApis(
        resourceRegistry({ runtimeConfig: '' }),
        allResources.map((definition) => registry.served(definition)),
      ),
      places: {
        registry,
        services: find('v1/services'),
        endpointSlices: find('discovery.k8s.io/v1/endpointslices'),
        endpoints: find('v1/endpoints'),
        random: Math.random,
      },
      metrics: new MetricsRegistry(),
      authorizer: alwaysAllow,
      configuration: () => configuration,
      writer: () => writer,
      log,
    },
    async store(key, object) {
      const resource = find(key)
      const copy = withDefaults(resource, object)
      const { namespace = '', name = '' } = copy.metadata
      await createObject({ ...writer, resource, namespace, name, subresource: '' }, copy)
    },
    write(key, object, more = {}) {
      const resource = find(key)
      const copy = withDefaults(resource, object)
      return {
        operation: 'CREATE',
        resource,
        subresource: '',
        namespace: copy.metadata.namespace ?? '',
        name: copy.metadata.name ?? '',
        user: { name: 'jane', groups: [] },
        object: copy,
        dryRun: false,
        options: writer.options,
        warn: () => {},
        annotate: () => {},
        ...more,
      }
    },
  }
}

function withDefaults(resource: ServedResource, object: object): KubeObject {
  const copy = {
    apiVersion: resource.groupVersion,
    kind: resource.definition.kind,
    ...structuredClone(object),
  } as unknown as KubeObject
  resource.applyDefaults(copy)
  return copy
}

/**
 * Returns the message with which a plug-in rejects a write; undefined if it admits the write. Applies the plug-in's
 * mutation to the object.
 */
export async function rejectionOf(
  plugin: AdmissionPlugin,
  attributes: AdmissionAttributes,
): Promise<string | undefined> {
  try {
    if (plugin.handles && !plugin.handles.includes(attributes.operation)) return undefined
    await plugin.mutate?.(attributes)
    await plugin.validate?.(attributes)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
