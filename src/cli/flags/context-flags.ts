/** The flags that select a cluster: a kubeconfig and one of its contexts. */
import { Option } from 'commander'
import { clusterOrder } from '../../kubeconfig/find-cluster.ts'

export interface ContextFlags {
  readonly kubeconfig?: string
  readonly context?: string
}

export const contextFlags = (): readonly Option[] => [
  new Option('--kubeconfig <FILE>', `the kubeconfig (default: ${clusterOrder})`),
  new Option('--context <NAME>', 'a context of it (default: the current one)'),
]
