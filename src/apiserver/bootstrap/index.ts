/** What a cluster has from the start: objects that the server makes sure of before it answers. */
import type { KubeObject } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import { createObject } from '../registry/write/create-object.ts'
import type { Writer } from '../registry/write/write-context.ts'
import { ensureRoles } from './roles/index.ts'
import { systemNamespaces } from './system-namespaces.ts'
import { systemPriorityClasses } from './system-priority-classes.ts'

export interface Bootstrap {
  readonly find: (key: string) => ServedResource
  readonly context: Writer
  readonly log: (line: string) => void
}

/**
 * Creates what is missing; what is there stays as it is. What admission refuses is logged: a server that did not start could not be freed of
 * a webhook that refuses everything.
 */
export async function ensureBootstrapObjects(bootstrap: Bootstrap): Promise<void> {
  const { find, context, log } = bootstrap
  await Promise.all([
    ensure(bootstrap, find('v1/namespaces'), systemNamespaces),
    ensure(bootstrap, find('scheduling.k8s.io/v1/priorityclasses'), systemPriorityClasses),
  ])
  // Some stand in the namespaces.
  await ensureRoles(find, context, log)
}

async function ensure({ context, log }: Bootstrap, resource: ServedResource, objects: readonly KubeObject[]): Promise<void> {
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
      } catch (error) {
        if (!(error instanceof StatusError)) throw error
        // Another server on the same store may have been faster.
        if (error.code !== 409) log(`${resource.groupResource.name} ${JSON.stringify(name)} cannot be made: ${error.message}`)
      }
    }),
  )
}
