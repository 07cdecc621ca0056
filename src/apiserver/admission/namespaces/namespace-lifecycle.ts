/**
 * NamespaceLifecycle: rejects creates in a missing or terminating namespace, and deletes of three system namespaces.
 */
import { after } from '../../../lib/flow/after.ts'
import { forbidden, notFound, StatusError } from '../../../machinery/status-error.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { StoredObject } from '../../registry/stored-object.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { forbiddenWrite } from '../forbidden-write.ts'
import type { AdmissionPlugin, PluginSources } from '../plugin.ts'
import { findNamespace } from './find-namespace.ts'

const immortal = new Set(['default', 'kube-system', 'kube-public'])

/**
 * For this time after a delete through this server, a namespace is read from the store: another server may have
 * finished the deletion before the cache shows it.
 */
const liveLookupMs = 30_000
const maxLiveLookups = 100

export function namespaceLifecycle({ registry, find }: PluginSources): AdmissionPlugin {
  const namespaces = find('v1/namespaces')
  /** By name: the time until which a namespace is read from the store. */
  const deletedLately = new Map<string, number>()
  return {
    name: 'NamespaceLifecycle',
    handles: ['CREATE', 'UPDATE', 'DELETE'],
    mutate(attributes) {
      const { operation, resource, namespace, name } = attributes
      if (operation === 'DELETE') {
        if (resource !== namespaces) return
        if (immortal.has(name)) throw forbidden(namespaces.groupResource, name, 'this namespace may not be deleted')
        noteDeletion(name)
        return
      }
      if (!resource.namespaced || isAccessReview(resource)) return
      return after(findNamespace(registry, namespaces, namespace), (found) => check(found, attributes))
    },
  }

  function noteDeletion(name: string): void {
    if (deletedLately.size >= maxLiveLookups) deletedLately.delete(deletedLately.keys().next().value!)
    deletedLately.set(name, Date.now() + liveLookupMs)
  }

  function check(found: StoredObject | undefined, attributes: AdmissionAttributes): void | Promise<void> {
    const { operation, namespace } = attributes
    if (!found) throw notFound(namespaces.groupResource, namespace)
    if (operation !== 'CREATE') return
    // The summary has these fields without parsing the object.
    if (found.summary.fields['status.phase'] === 'Terminating') throw terminating(attributes)
    if (deletedLately.size > 0 && wasDeletedLately(namespace)) return checkLive(attributes)
  }

  function wasDeletedLately(namespace: string): boolean {
    const until = deletedLately.get(namespace)
    if (until === undefined) return false
    if (Date.now() < until) return true
    deletedLately.delete(namespace)
    return false
  }

  async function checkLive(attributes: AdmissionAttributes): Promise<void> {
    const { namespace } = attributes
    const found = await registry.newest(namespaces, namespaces.key('', namespace))
    if (!found) throw notFound(namespaces.groupResource, namespace)
    if (found.summary.fields['status.phase'] === 'Terminating') throw terminating(attributes)
  }
}

/** An access review must not reveal whether the namespace exists. */
const isAccessReview = ({ definition }: ServedResource): boolean =>
  definition.plural === 'localsubjectaccessreviews' && definition.group === 'authorization.k8s.io'

function terminating(attributes: AdmissionAttributes): StatusError {
  const { namespace } = attributes
  const { code, status } = forbiddenWrite(
    attributes,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  )
  return new StatusError(code, status.reason, status.message!, {
    ...status.details,
    causes: [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  })
}
