/** Finds the cluster of a program: from a kubeconfig, or from the environment of a pod. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Connection as KubeconfigConnection } from '../../kubeconfig/connection.ts'
import { type Context, contextOf, kubeconfigFiles } from '../../kubeconfig/read-context.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import type { ServerAccess } from './connection.ts'
import { basicAuthentication, bearerToken, type Credentials, tokenFile } from './credentials/credentials.ts'
import { execCredentials } from './credentials/exec-credentials.ts'

/** The access to a cluster, and the default namespace. */
export interface LoadedAccess extends ServerAccess {
  readonly namespace: string
}

/** The place of a kubeconfig or of a service account. */
export interface LoadOptions {
  /** Path of a kubeconfig. Default: $KUBECONFIG. */
  readonly kubeconfig?: string
  /** Default: the current context of the kubeconfig. */
  readonly context?: string
  /** Default: process.env. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** The folder of the service account's files. Default: Kubernetes' own. */
  readonly accountFolder?: string
}

const podAccount = '/var/run/secrets/kubernetes.io/serviceaccount'

/**
 * Loads the kubeconfig from `options` or $KUBECONFIG, else the service account of the pod, else ~/.kube/config. Rejects
 * with an ExplainedError that names what is missing.
 * @example const { url, namespace } = await loadAccess({ context: 'work' })
 */
export async function loadAccess(options: LoadOptions = {}): Promise<LoadedAccess> {
  const { kubeconfig, context, environment = process.env } = options
  if (!kubeconfig && !environment.KUBECONFIG && environment.KUBERNETES_SERVICE_HOST && !context)
    return inClusterAccess(options)
  return kubeconfigAccess(await contextOf(kubeconfigFiles(environment, kubeconfig), context))
}

/**
 * Returns the API server's address and the service account of the current pod. Rejects with an ExplainedError outside
 * of pods.
 * @example const client = await connectTo({ access: await inClusterAccess() })
 */
export async function inClusterAccess({
  environment = process.env,
  accountFolder = podAccount,
}: LoadOptions = {}): Promise<LoadedAccess> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = environment
  if (!host) throw new ExplainedError('not running in a pod: KUBERNETES_SERVICE_HOST is not set')
  const token = join(accountFolder, 'token')
  if (!existsSync(token))
    throw new ExplainedError(
      `the service account token is missing at ${token}: check automountServiceAccountToken of the pod`,
    )
  const content = (name: string): Promise<string> =>
    readFile(join(accountFolder, name), 'utf8').catch((error) => {
      throw new ExplainedError(`cannot read ${join(accountFolder, name)}: ${reasonOf(error)}`, { cause: error })
    })
  const [ca, namespace] = await Promise.all([content('ca.crt'), content('namespace')])
  return {
    url: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    ca,
    credentials: tokenFile(token),
    namespace: namespace.trim(),
  }
}

/** Converts a context of a kubeconfig. */
export function kubeconfigAccess({ url, exec, namespace, ...connection }: Context): LoadedAccess {
  const { ca, cert, key, serverName, insecure, proxyUrl, impersonate } = connection
  return {
    url: url.href,
    ca,
    cert,
    key,
    serverName,
    insecure,
    proxyUrl,
    impersonate,
    namespace,
    credentials: exec ? execCredentials(exec) : staticCredentials(connection),
  }
}

function staticCredentials({
  token,
  tokenFile: file,
  basic,
}: Omit<KubeconfigConnection, 'url'>): Credentials | undefined {
  if (file) return tokenFile(file)
  if (token) return bearerToken(token)
  return basic && basicAuthentication(basic.username, basic.password)
}
