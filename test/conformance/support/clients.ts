/** The official JavaScript client against one cluster for all tests of a file, each in a namespace of its own. */
import { CoreV1Api, KubeConfig, KubernetesObjectApi, PatchStrategy, setHeaderOptions } from '@kubernetes/client-node'
import type { ClusterOptions } from '../../../src/cluster/start-cluster.ts'
import { sharedCluster } from '../../controllers/shared-cluster.ts'
import { apiControllers, type TestCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

export interface Clients {
  readonly cluster: TestCluster
  readonly config: KubeConfig
  readonly core: CoreV1Api
  /** For objects of any kind. */
  readonly objects: KubernetesObjectApi
  /** Creates a namespace and returns its name. Resolves when pods can be created in it. */
  namespace(name: string): Promise<string>
}

/** Sends a merge patch. */
export const merging = setHeaderOptions('Content-Type', PatchStrategy.MergePatch)

/** Called at the top of a file. The returned function is called in its tests. */
export function conformanceClients(options: ClusterOptions = { controllers: apiControllers }): () => Clients {
  const cluster = sharedCluster(options)
  let clients: Clients | undefined
  return () => {
    if (!clients) {
      const config = new KubeConfig()
      config.loadFromString(cluster().kubeconfigYaml)
      const core = config.makeApiClient(CoreV1Api)
      clients = {
        cluster: cluster(),
        config,
        core,
        objects: KubernetesObjectApi.makeApiClient(config),
        async namespace(name) {
          await core.createNamespace({ body: { metadata: { name } } })
          await waitFor('the account', () => core.readNamespacedServiceAccount({ namespace: name, name: 'default' }))
          return name
        },
      }
    }
    return clients
  }
}

export const pod = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    containers: [
      {
        name: 'c',
        image: 'i',
        resources: { requests: { cpu: '100m', memory: '1Mi' }, limits: { cpu: '100m', memory: '1Mi' } },
      },
    ],
    ...spec,
  },
})
