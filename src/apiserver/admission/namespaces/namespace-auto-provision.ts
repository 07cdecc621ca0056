/** NamespaceAutoProvision: creates the missing namespace of a create. */
import { after } from '../../../lib/flow/after.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { createIfAbsent } from '../../registry/write/create-object.ts'
import { forbiddenWrite } from '../forbidden-write.ts'
import type { AdmissionPlugin, PluginSources } from '../plugin.ts'
import { findNamespace } from './find-namespace.ts'

export function namespaceAutoProvision({ registry, find, writer }: PluginSources): AdmissionPlugin {
  const namespaces = find('v1/namespaces')
  return {
    name: 'NamespaceAutoProvision',
    handles: ['CREATE'],
    mutate(attributes) {
      // A dry run must not store anything.
      if (!attributes.resource.namespaced || attributes.dryRun) return
      return after(findNamespace(registry, namespaces, attributes.namespace), (found) =>
        found ? undefined : provide(attributes),
      )
    },
  }

  async function provide(attributes: AdmissionAttributes): Promise<void> {
    const name = attributes.namespace
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
    namespaces.applyDefaults(object)
    try {
      // Another request may have created it in the meantime: not an error.
      await createIfAbsent({ ...writer(), resource: namespaces, namespace: '', name, subresource: '' }, object)
    } catch (error) {
      throw forbiddenWrite(attributes, error instanceof Error ? error.message : String(error))
    }
  }
}
