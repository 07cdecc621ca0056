/** The namespaces that a cluster has from the start. */
import type { KubeObject } from '../machinery/object.ts'
import { StatusError } from '../machinery/status-error.ts'
import { createObject } from './registry/create-object.ts'
import type { WriteContext } from './registry/write-context.ts'

const names = ['kube-system', 'kube-public', 'kube-node-lease', 'default']

/** Creates those that are missing. `context` is for namespaces, without a name. */
export async function ensureSystemNamespaces(context: Omit<WriteContext, 'name'>): Promise<void> {
  const { registry, resource } = context
  await Promise.all(
    names.map(async (name) => {
      if (await registry.get(resource, resource.key('', name))) return
      const namespace: KubeObject = { kind: 'Namespace', apiVersion: 'v1', metadata: { name } }
      resource.applyDefaults(namespace)
      try {
        await createObject({ ...context, name }, namespace)
      } catch (error) {
        // Another server on the same store was faster.
        if (!(error instanceof StatusError && error.code === 409)) throw error
      }
    }),
  )
}
