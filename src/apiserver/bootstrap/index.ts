/** What a cluster has from the start: objects that the server makes sure of before it answers. */
import type { KubeObject, Unstructured } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import { createObject } from '../registry/write/create-object.ts'
import { updateObject } from '../registry/write/update-object.ts'
import type { WriteContext } from '../registry/write/write-context.ts'
import { apiServices } from './api-services.ts'
import { systemNamespaces } from './system-namespaces.ts'
import { systemPriorityClasses } from './system-priority-classes.ts'

export interface Bootstrap {
  readonly namespaces: ServedResource
  readonly priorityClasses: ServedResource
  readonly apiServices: ServedResource
  /** The group versions that are served. */
  readonly groupVersions: readonly { readonly group: string; readonly version: string }[]
  readonly context: Omit<WriteContext, 'resource' | 'namespace' | 'name' | 'subresource'>
}

/** Creates what is missing; what is there stays as it is. */
export async function ensureBootstrapObjects(bootstrap: Bootstrap): Promise<void> {
  await Promise.all([
    ensure(bootstrap, bootstrap.namespaces, systemNamespaces),
    ensure(bootstrap, bootstrap.priorityClasses, systemPriorityClasses),
    ensure(bootstrap, bootstrap.apiServices, apiServices(bootstrap.groupVersions)),
  ])
}

async function ensure({ context }: Bootstrap, resource: ServedResource, objects: readonly KubeObject[]): Promise<void> {
  const { registry } = context
  await Promise.all(
    objects.map(async (template) => {
      const name = template.metadata.name!
      if (await registry.get(resource, resource.key('', name))) return
      const object = structuredClone(template)
      resource.applyDefaults(object)
      const place = { ...context, resource, namespace: '', name }
      try {
        await createObject({ ...place, subresource: '' }, object)
        const { status } = template as Unstructured
        if (status)
          await updateObject({ ...place, subresource: 'status' }, { startsFromLive: true, change: (live) => ({ object: { ...live, status } as Unstructured }) })
      } catch (error) {
        // Another server on the same store was faster.
        if (!(error instanceof StatusError && error.code === 409)) throw error
      }
    }),
  )
}
