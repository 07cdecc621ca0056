/**
 * Which cluster the manager is for, and as whom it and its controllers act: what `--kubeconfig`, `--master` and
 * `--use-service-account-credentials` say.
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
import type { FlagPlace } from '../serving-options/flag-place.ts'
import { accountCredentials } from './account-credentials.ts'

const accountNamespace = 'kube-system'
const usualBurst = 30

/**
 * The cluster of a kubeconfig; undefined where the flag is not given. Rejects with an ExplainedError for files that
 * will not do.
 */
export async function accessOf({ flags, cwd }: FlagPlace, flag: string): Promise<ServerAccess | undefined> {
  const file = flags.text(flag)
  return file ? kubeconfigAccess(await contextOf([resolve(cwd, file)])) : undefined
}

/** The cluster that controllers are for. Rejects with an ExplainedError where nothing says which that is. */
export async function managedCluster(place: FlagPlace): Promise<ServerAccess> {
  const master = place.flags.text('master')
  if (master && !URL.canParse(master))
    throw new ExplainedError(`--master ${master} is no URL: write it like https://127.0.0.1:6443`)
  const found = await accessOf(place, 'kubeconfig')
  if (found) return { ...found, ...(master && { url: master }) }
  if (master) return { url: master }
  if (process.env.KUBERNETES_SERVICE_HOST) return inClusterAccess()
  throw new ExplainedError(
    'nothing says which cluster is meant: give --kubeconfig, such as the one that `t8s up` writes',
  )
}

export function managedClients(access: ServerAccess, { flags }: FlagPlace): ControllerClients {
  const server: ServerAccess = { ...access, userAgent: managerAgent }
  const main = new Connection(server)
  const reader = new RestClient(main)
  const qps = flags.float('kube-api-qps')
  const turns = (): TokenBucket | undefined =>
    qps && qps > 0 ? new TokenBucket({ qps, burst: flags.int('kube-api-burst') || usualBurst }) : undefined
  if (!flags.bool('use-service-account-credentials')) {
    return { reader, of: () => new RestClient(main, { rateLimiter: turns() }), close: () => main.close() }
  }
  // Who shows a certificate is known by that, whatever token they send: accounts have a connection without.
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
        ? new RestClient(ofAccounts, { credentials: credentialsOf(account), rateLimiter: turns() })
        : new RestClient(main, { rateLimiter: turns() }),
    close() {
      ofAccounts.close()
      main.close()
    },
  }
}
