/** Which files a change of kubeconfigs goes to: the ones that kubectl would write (client-go's clientcmd). */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

/** The files that count, the first to name something wins, and whether one was named on the command line. */
export interface Locations {
  readonly files: readonly string[]
  /** New things are written there. */
  readonly target: string
}

/** `given` is what --kubeconfig names; else $KUBECONFIG, else ~/.kube/config. */
export function kubeconfigLocations(environment: NodeJS.ProcessEnv, given?: string): Locations {
  if (given) return { files: [given], target: given }
  const listed = [...new Set(environment.KUBECONFIG?.split(delimiter).filter(Boolean) ?? [])]
  const [first, ...others] = listed.length > 0 ? listed : [join(environment.HOME || homedir(), '.kube', 'config')]
  const files = [first as string, ...others]
  // The first that is there, else the last.
  return { files, target: files.find((file) => existsSync(file)) ?? files.at(-1)! }
}
