/** Which cluster a command is about: a kubeconfig and one of its contexts. */
import { Option } from 'commander'

export interface ContextFlags {
  readonly kubeconfig?: string
  readonly context?: string
}

export const contextFlags = (): readonly Option[] => [
  new Option('--kubeconfig <FILE>', 'the kubeconfig (default: $KUBECONFIG, else ~/.kube/config)'),
  new Option('--context <NAME>', 'a context of it (default: the current one)'),
]
