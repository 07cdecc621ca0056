/** NamespaceLifecycle: nothing is created in a namespace that does not exist or is going away; three namespaces stay. */
import { after } from '../../../lib/after.ts'
import { forbidden, notFound, StatusError } from '../../../machinery/status-error.ts'
import type { Registry } from '../../registry/registry.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { StoredObject } from '../../registry/stored-object.ts'
import type { AdmissionPlugin } from '../plugin.ts'

const immortal = new Set(['default', 'kube-system', 'kube-public'])

export function namespaceLifecycle(registry: Registry, namespaces: ServedResource): AdmissionPlugin {
  const namespaceResource = namespaces.groupResource
  return {
    name: 'NamespaceLifecycle',
    mutate({ operation, resource, namespace, name }) {
      if (operation === 'DELETE' && resource === namespaces && immortal.has(name)) throw forbidden(namespaceResource, name, 'this namespace may not be deleted')
      // Questions about a namespace may be asked before there is one.
      if (operation !== 'CREATE' || !resource.namespaced || resource.groupVersion.startsWith('authorization.k8s.io/')) return
      return admitCreate(resource, namespace, name)
    },
  }

  function admitCreate(resource: ServedResource, namespace: string, name: string): void | Promise<void> {
    return after(registry.get(namespaces, namespaces.key('', namespace)), (found) => checkNamespace(found, resource, namespace, name))
  }

  function checkNamespace(found: StoredObject | undefined, resource: ServedResource, namespace: string, name: string): void {
    if (!found) throw notFound(namespaceResource, namespace)
    // Namespaces are read on every create: their labels and fields are at hand without parsing.
    if (found.summary.fields['status.phase'] !== 'Terminating') return
    const { code, status } = forbidden(resource.groupResource, name, `unable to create new content in namespace ${namespace} because it is being terminated`)
    throw new StatusError(code, status.reason, status.message!, {
      ...status.details,
      causes: [{ reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' }],
    })
  }
}
