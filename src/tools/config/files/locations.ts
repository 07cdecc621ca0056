/** The kubeconfigs to read and the one to write, as in kubectl (client-go's clientcmd). */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

/** The files in order of precedence, and the file for new entries. */
export interface Locations {
  readonly files: readonly string[]
  /** The file for new entries. */
  readonly target: string
}

/** `given` is the value of --kubeconfig. Default: $KUBECONFIG, else ~/.kube/config. */
export function kubeconfigLocations(environment: NodeJS.ProcessEnv, given?: string): Locations {
  if (given) return { files: [given], target: given }
  const listed = [...new Set(environment.KUBECONFIG?.split(delimiter).filter(Boolean) ?? [])]
  const [first, ...others] = listed.length > 0 ? listed : [join(environment.HOME || homedir(), '.kube', 'config')]
  const files = [first as string, ...others]
  // The first that exists, else the last.
  return { files, target: files.find((file) => existsSync(file)) ?? files.at(-1)! }
}
