/**
 * Finds the cluster for commands of `t8s`: --kubeconfig, else $KUBECONFIG, else the kubeconfig of a `t8s up` in this
 * folder, else as kubectl.
 */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { ExplainedError } from '../lib/explained-error.ts'

/** The default path of the kubeconfig of `t8s up`, relative to its working directory. */
export const folderKubeconfig = join('.t8s', 'kubeconfig')

/** The search order, for help texts. */
export const clusterOrder = '$KUBECONFIG, else .t8s/kubeconfig in this folder, else ~/.kube/config'

export interface ClusterChoice {
  /** The value of --kubeconfig. */
  readonly kubeconfig?: string
  /** The value of --context. */
  readonly context?: string
}

/**
 * Returns the environment for a command's clients, with KUBECONFIG set to the files. Rejects with an ExplainedError if
 * there is no kubeconfig, and if the one in this folder has an exec plugin: a downloaded folder must not run programs.
 */
export async function clusterEnvironment(
  { kubeconfig, context }: ClusterChoice,
  environment: NodeJS.ProcessEnv = process.env,
  folder = process.cwd(),
): Promise<NodeJS.ProcessEnv> {
  if (kubeconfig || environment.KUBECONFIG) return environment
  const folderFile = join(folder, folderKubeconfig)
  const homeFile = join(environment.HOME || homedir(), '.kube', 'config')
  if (existsSync(folderFile)) {
    await rejectPrograms(folderFile)
    // A named context may be in either file.
    return {
      ...environment,
      KUBECONFIG: context && existsSync(homeFile) ? [folderFile, homeFile].join(delimiter) : folderFile,
    }
  }
  if (environment.KUBERNETES_SERVICE_HOST || existsSync(homeFile)) return environment
  throw new ExplainedError(
    `no kubeconfig is given, and neither ${folderFile} nor ${homeFile} exists: start a cluster here with t8s up, ` +
      'or use --kubeconfig or KUBECONFIG',
  )
}

async function rejectPrograms(file: string): Promise<void> {
  // Loaded here, since help texts only need the search order, not the YAML parser.
  const { readKubeconfigFile } = await import('./kubeconfig-file.ts')
  const users = (await readKubeconfigFile(file)).entries('user')
  if ([...users.values()].some(({ fields }) => fields.exec !== undefined))
    throw new ExplainedError(
      `${file} has an exec plugin, which t8s up never writes: if you trust it, pass the file with --kubeconfig`,
    )
}
