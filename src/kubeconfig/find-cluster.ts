/**
 * How commands of `t8s` find their cluster: by --kubeconfig, else $KUBECONFIG, else the kubeconfig of a `t8s up` in
 * this folder, else as kubectl does.
 */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { ExplainedError } from '../lib/explained-error.ts'

/** Where `t8s up` writes the kubeconfig, from the folder in which it is started. */
export const folderKubeconfig = join('.t8s', 'kubeconfig')

/** The order, for help texts. */
export const clusterOrder = '$KUBECONFIG, else .t8s/kubeconfig in this folder, else ~/.kube/config'

export interface ClusterChoice {
  /** What --kubeconfig names. */
  readonly kubeconfig?: string
  /** What --context names. */
  readonly context?: string
}

/**
 * The environment in which clients find the cluster of a command: KUBECONFIG names the files. Rejects with an
 * ExplainedError where there is no kubeconfig, and where the one of this folder names a program: a folder that somebody
 * has downloaded must not run one.
 */
export async function clusterEnvironment(
  { kubeconfig, context }: ClusterChoice,
  environment: NodeJS.ProcessEnv = process.env,
  folder = process.cwd(),
): Promise<NodeJS.ProcessEnv> {
  if (kubeconfig || environment.KUBECONFIG) return environment
  const here = join(folder, folderKubeconfig)
  const usual = join(environment.HOME || homedir(), '.kube', 'config')
  if (existsSync(here)) {
    await refusePrograms(here)
    // A context by name may be one of all that this user has.
    return { ...environment, KUBECONFIG: context && existsSync(usual) ? [here, usual].join(delimiter) : here }
  }
  if (environment.KUBERNETES_SERVICE_HOST || existsSync(usual)) return environment
  throw new ExplainedError(
    `no cluster is named, and neither ${here} nor ${usual} is there: start a cluster here by t8s up, or name a ` +
      'kubeconfig by --kubeconfig or KUBECONFIG',
  )
}

async function refusePrograms(file: string): Promise<void> {
  // Help texts need the order alone: YAML is loaded here.
  const { readKubeconfigFile } = await import('./kubeconfig-file.ts')
  const users = (await readKubeconfigFile(file)).entries('user')
  if ([...users.values()].some(({ fields }) => fields.exec !== undefined))
    throw new ExplainedError(
      `${file} names a program to run, which t8s up never does: if you trust it, name the file by --kubeconfig`,
    )
}
