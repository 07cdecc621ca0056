/** A cluster whose node runs pods on a container runtime, for the suites of `test/conformance/suites`. */
import { after } from 'node:test'
import { nodesReady, type PodNodes } from '../../conformance/support/pod-nodes.ts'
import { installedKubectls, Kubectl } from '../../support/kubectl.ts'
import { reachable } from '../../support/reachable-cluster.ts'
import { TestNode } from './test-node.ts'

/** With `simulated`, so many simulated nodes run beside the real one. Called in `inNamespaces`. */
export async function realNodes(simulated = 0): Promise<PodNodes> {
  const { cluster: started } = await TestNode.start({ scheduler: true, ...(simulated > 0 && { nodes: simulated }) })
  const cluster = reachable({ after }, started)
  await nodesReady(cluster, 1 + simulated)
  return {
    areReal: true,
    cluster,
    async setReady(namespace, pod, isReady) {
      const kubectl = new Kubectl(installedKubectls().at(-1)!, cluster.kubeconfigFile, cluster.folder, namespace)
      await kubectl.ok(`exec ${pod} -- ${isReady ? 'rm -f' : 'touch'} /not-ready`)
    },
  }
}
