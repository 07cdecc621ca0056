/** NamespaceExists: rejects writes in a missing namespace. NamespaceLifecycle includes this check. */
import { after } from '../../../lib/flow/after.ts'
import { notFound } from '../../../machinery/status-error.ts'
import type { AdmissionPlugin, PluginSources } from '../plugin.ts'
import { findNamespace } from './find-namespace.ts'

export function namespaceExists({ registry, find }: PluginSources): AdmissionPlugin {
  const namespaces = find('v1/namespaces')
  return {
    name: 'NamespaceExists',
    handles: ['CREATE', 'UPDATE', 'DELETE'],
    validate({ resource, namespace }) {
      if (!resource.namespaced) return
      return after(findNamespace(registry, namespaces, namespace), (found) => {
        if (!found) throw notFound(namespaces.groupResource, namespace)
      })
    },
  }
}
