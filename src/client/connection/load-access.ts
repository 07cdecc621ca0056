/** How a program finds its cluster: by a kubeconfig, or by what a pod is given. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Connection as KubeconfigConnection } from '../../kubeconfig/connection.ts'
import { type Context, contextOf, kubeconfigFiles } from '../../kubeconfig/read-context.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import type { ServerAccess } from './connection.ts'
import { basicAuthentication, bearerToken, type Credentials, tokenFile } from './credentials/credentials.ts'
import { execCredentials } from './credentials/exec-credentials.ts'

/** A cluster, and the namespace that is meant where none is named. */
export interface LoadedAccess extends ServerAccess {
  readonly namespace: string
}

export interface LoadOptions {
  /** A kubeconfig; $KUBECONFIG unless said. */
  readonly kubeconfig?: string
  /** Its current context unless said. */
  readonly context?: string
  /** process.env unless said. */
  readonly environment?: NodeJS.ProcessEnv
  /** Where a pod finds its account's files; Kubernetes' own place unless said. */
  readonly accountFolder?: string
}

const podAccount = '/var/run/secrets/kubernetes.io/serviceaccount'

/**
 * A kubeconfig that is named (here, or by $KUBECONFIG), else the account of the pod, else ~/.kube/config. Rejects with
 * an ExplainedError that says what is missing.
 */
export async function loadAccess(options: LoadOptions = {}): Promise<LoadedAccess> {
  const { kubeconfig, context, environment = process.env } = options
  if (!kubeconfig && !environment.KUBECONFIG && environment.KUBERNETES_SERVICE_HOST && !context)
    return inClusterAccess(options)
  return kubeconfigAccess(await contextOf(kubeconfigFiles(environment, kubeconfig), context))
}

/** The API server as a pod sees it, as its service account. Rejects with an ExplainedError outside of pods. */
export async function inClusterAccess({
  environment = process.env,
  accountFolder = podAccount,
}: LoadOptions = {}): Promise<LoadedAccess> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = environment
  if (!host) throw new ExplainedError('this is no pod: KUBERNETES_SERVICE_HOST is not set')
  const token = join(accountFolder, 'token')
  if (!existsSync(token))
    throw new ExplainedError(`the pod has no token at ${token}: see to automountServiceAccountToken`)
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

/** What a context of a kubeconfig says. */
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
    credentials: exec ? execCredentials(exec) : secretsOf(connection),
  }
}

function secretsOf({ token, tokenFile: file, basic }: Omit<KubeconfigConnection, 'url'>): Credentials | undefined {
  if (file) return tokenFile(file)
  if (token) return bearerToken(token)
  return basic && basicAuthentication(basic.username, basic.password)
}
