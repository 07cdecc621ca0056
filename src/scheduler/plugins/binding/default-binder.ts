/** DefaultBinder: binds the pod to the node through the API server. */
import { pods } from '../../../client/kinds.ts'
import { failed, type Plugin, pluginFactory } from '../../framework/index.ts'

export const defaultBinder = pluginFactory({
  name: 'DefaultBinder',
  make: (_args, { client }): Plugin => ({
    async bind({ namespace, name, pod }, node) {
      const { uid } = pod.metadata
      // The uid protects a new pod of the same name.
      const binding = {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { namespace, name, ...(uid && { uid }) },
        target: { kind: 'Node', name: node },
      }
      try {
        await client.createUnder(pods, namespace, name, 'binding', binding)
        return undefined
      } catch (error) {
        return failed(error)
      }
    },
  }),
})
