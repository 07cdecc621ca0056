/** DefaultBinder: tells the API server which node a pod goes to. */
import { pods } from '../../../client/kinds.ts'
import { failed, type Plugin, pluginFactory } from '../../framework/index.ts'

export const defaultBinder = pluginFactory({
  name: 'DefaultBinder',
  make: (_args, { client }): Plugin => ({
    async bind({ namespace, name, pod }, node) {
      const { uid } = pod.metadata
      // With its uid, so that no pod that came into its place is meant.
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
