/**
 * Selects the cluster of the manager and the credentials of the manager and its controllers: `--kubeconfig`, `--master`
 * and `--use-service-account-credentials`.
 */
import { resolve } from 'node:path'
import { Connection, type ServerAccess } from '../../client/connection/connection.ts'
import type { Credentials } from '../../client/connection/credentials/credentials.ts'
import { inClusterAccess, kubeconfigAccess } from '../../client/connection/load-access.ts'
import { TokenBucket } from '../../client/connection/pacing/token-bucket.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import { type ControllerClients, managerAgent } from '../../controllers/index.ts'
import { contextOf } from '../../kubeconfig/read-context.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import type { FlagContext } from '../serving-options/flag-context.ts'
import { accountCredentials } from './account-credentials.ts'

const accountNamespace = 'kube-system'
const usualBurst = 30

/**
 * Returns the cluster of a kubeconfig; undefined without the flag. Rejects with an ExplainedError for unusable files.
 */
export async function accessOf({ flags, cwd }: FlagContext, flag: string): Promise<ServerAccess | undefined> {
  const file = flags.text(flag)
  return file ? kubeconfigAccess(await contextOf([resolve(cwd, file)])) : undefined
}

/** Returns the cluster to manage. Rejects with an ExplainedError if no flag names one. */
export async function managedCluster(context: FlagContext): Promise<ServerAccess> {
  const master = context.flags.text('master')
  if (master && !URL.canParse(master))
    throw new ExplainedError(`--master ${master} is not a URL: write it like https://127.0.0.1:6443`)
  const found = await accessOf(context, 'kubeconfig')
  if (found) return { ...found, ...(master && { url: master }) }
  if (master) return { url: master }
  if (process.env.KUBERNETES_SERVICE_HOST) return inClusterAccess()
  throw new ExplainedError('no cluster is given: use --kubeconfig, such as the one that `t8s up` writes')
}

export function managedClients(access: ServerAccess, { flags }: FlagContext): ControllerClients {
  const server: ServerAccess = { ...access, userAgent: managerAgent }
  const main = new Connection(server)
  const reader = new RestClient(main)
  const qps = flags.float('kube-api-qps')
  const newRateLimiter = (): TokenBucket | undefined =>
    qps && qps > 0 ? new TokenBucket({ qps, burst: flags.int('kube-api-burst') || usualBurst }) : undefined
  if (!flags.bool('use-service-account-credentials')) {
    return { reader, of: () => new RestClient(main, { rateLimiter: newRateLimiter() }), close: () => main.close() }
  }
  // A client certificate takes precedence over a token, so the accounts' connection has none.
  const { url, ca, serverName, insecure, proxyUrl, userAgent, metrics } = server
  const ofAccounts = new Connection({ url, ca, serverName, insecure, proxyUrl, userAgent, metrics })
  const known = new Map<string, Credentials>()
  const credentialsOf = (account: string): Credentials => {
    const present = known.get(account) ?? accountCredentials(reader, accountNamespace, account)
    known.set(account, present)
    return present
  }
  return {
    reader,
    of: ({ account }) =>
      account
        ? new RestClient(ofAccounts, { credentials: credentialsOf(account), rateLimiter: newRateLimiter() })
        : new RestClient(main, { rateLimiter: newRateLimiter() }),
    close() {
      ofAccounts.close()
      main.close()
    },
  }
}
