/** The namespaces of every cluster. */
import type { KubeObject } from '../../machinery/object.ts'

export const systemNamespaces: readonly KubeObject[] = ['kube-system', 'kube-public', 'kube-node-lease', 'default'].map(
  (name) => ({
    kind: 'Namespace',
    apiVersion: 'v1',
    metadata: { name },
  }),
)
