/** Selected annotations of all namespaces, for plug-ins that are configured by them. */
import { after } from '../../../lib/flow/after.ts'
import { own } from '../../../lib/own.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { Informer } from '../../registry/informer.ts'
import type { StoredObject } from '../../registry/stored-object.ts'
import type { PluginSources } from '../plugin.ts'

type Annotations = Readonly<Record<string, string>>

export interface NamespaceAnnotations {
  /** The selected annotations of a namespace; empty for a missing one. */
  of(namespace: string): Annotations | Promise<Annotations>
  start(): Promise<void>
  stop(): void
}

export function namespaceAnnotations(
  { registry, find, log }: PluginSources,
  keys: readonly string[],
): NamespaceAnnotations {
  const namespaces = find('v1/namespaces')
  const read = (object: StoredObject): Annotations => {
    const { annotations } = object.parse<KubeObject>().metadata
    const selected: Record<string, string> = {}
    for (const key of keys) {
      const value = own(annotations, key)
      if (value !== undefined) selected[key] = value
    }
    return selected
  }
  const informer = new Informer<Annotations>({ registry, resource: namespaces, read, log })
  return {
    // A namespace created just now may not have been observed yet.
    of: (namespace) =>
      informer.get('', namespace) ??
      after(registry.lookUp(namespaces, namespaces.key('', namespace)), (found) => (found ? read(found) : {})),
    start: () => informer.start(),
    stop: () => informer.stop(),
  }
}
