/** A scheduler alone, for any API server: `t8s scheduler`. Of several that run, one leads. */
import { resolve } from 'node:path'
import { Connection, type ServerAccess } from '../../client/connection/connection.ts'
import { kubeconfigAccess, loadAccess } from '../../client/connection/load-access.ts'
import type { LeadershipEnd } from '../../client/election/leader-election.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import { contextOf } from '../../kubeconfig/read-context.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import { defaultConfiguration } from '../../scheduler/configuration/index.ts'
import { pluginRegistry, type RunningScheduler, readConfigurationFile, runScheduler, type SchedulerConfiguration } from '../../scheduler/index.ts'
import { readIdentity } from '../credentials/identity-files.ts'
import { issueCertificate, makeAuthority } from '../pki/certificates.ts'
import type { KeyPair } from '../pki/key-pair.ts'
import { type HealthPort, healthPort } from './health-port.ts'

export interface LoneSchedulerOptions {
  /** A kubeconfig; that of the configuration, $KUBECONFIG, or the pod's account unless said. */
  readonly kubeconfig?: string
  /** The server's URL, in place of the kubeconfig's. */
  readonly master?: string
  /** A file with a KubeSchedulerConfiguration. */
  readonly config?: string
  /** These count more than the configuration. */
  readonly leaderElection: Partial<SchedulerConfiguration['leaderElection']>
  readonly rateLimit?: { readonly qps: number; readonly burst: number }
  readonly bindAddress: string
  /** Undefined for none; 0 takes any free one. */
  readonly port: number | undefined
  readonly authenticationKubeconfig?: string
  readonly authorizationKubeconfig?: string
  readonly tlsCertFile?: string
  readonly tlsPrivateKeyFile?: string
  readonly log: (line: string) => void
}

export interface LoneScheduler {
  /** Of `/healthz` and the rest. */
  readonly port: number | undefined
  /** How it ended; with `lost`, another one leads. */
  readonly ended: Promise<LeadershipEnd>
  stop(): Promise<void>
}

/** Rejects with an ExplainedError for files and flags that will not do. */
export async function startLoneScheduler(options: LoneSchedulerOptions): Promise<LoneScheduler> {
  const { config, log } = options
  const read = config ? readConfigurationFile(resolve(config), pluginRegistry()) : defaultConfiguration(pluginRegistry())
  const given = Object.fromEntries(Object.entries(options.leaderElection).filter(([, value]) => value !== undefined))
  const configuration: SchedulerConfiguration = { ...read, leaderElection: { ...read.leaderElection, ...given } }
  checkTimes(configuration.leaderElection)
  const access = await accessOf(options.kubeconfig ?? configuration.clientConnection.kubeconfig)
  const { qps, burst = 100 } = configuration.clientConnection
  const rateLimit = options.rateLimit ?? (qps ? { qps, burst } : undefined)
  const server: ServerAccess = { ...access, ...(options.master && { url: options.master }), rateLimit }
  const running = runScheduler({ server, configuration, leaderElection: configuration.leaderElection.leaderElect, log })
  try {
    const port = options.port === undefined ? undefined : await servedPort(options, server, running, options.port)
    return {
      port: port?.port,
      ended: running.ended,
      async stop() {
        await running.stop()
        await port?.stop()
      },
    }
  } catch (error) {
    await running.stop()
    throw error
  }
}

function checkTimes({ leaseMs, renewMs, retryMs }: SchedulerConfiguration['leaderElection']): void {
  if (leaseMs <= renewMs) throw new ExplainedError('--leader-elect-lease-duration has to be longer than --leader-elect-renew-deadline')
  if (renewMs <= retryMs * 1.2) throw new ExplainedError('--leader-elect-renew-deadline has to be longer than 1.2 times --leader-elect-retry-period')
}

const accessOf = async (kubeconfig: string | undefined): Promise<ServerAccess> =>
  kubeconfig ? kubeconfigAccess(await contextOf([resolve(kubeconfig)])) : loadAccess()

/** The port, and the connections by which it asks who somebody is. */
async function servedPort(options: LoneSchedulerOptions, server: ServerAccess, running: RunningScheduler, port: number): Promise<HealthPort> {
  const { bindAddress, authenticationKubeconfig, authorizationKubeconfig } = options
  const connections: Connection[] = []
  const client = async (kubeconfig: string | undefined): Promise<RestClient> => {
    const connection = new Connection({ ...(kubeconfig ? await accessOf(kubeconfig) : server), userAgent: 'kube-scheduler' })
    connections.push(connection)
    return new RestClient(connection)
  }
  const served = await healthPort({
    bindAddress,
    port,
    tls: readIdentity(options).tls ?? (await ownPair(bindAddress)),
    isReady: () => running.isReady,
    metrics: () => running.metrics(),
    authentication: await client(authenticationKubeconfig),
    authorization: await client(authorizationKubeconfig),
  })
  return {
    port: served.port,
    async stop() {
      await served.stop()
      for (const connection of connections) connection.close()
    },
  }
}

/** A certificate that nobody can check, as upstream makes one. */
async function ownPair(bindAddress: string): Promise<KeyPair> {
  const now = new Date()
  const authority = await makeAuthority(`kube-scheduler-ca@${Math.floor(now.getTime() / 1000)}`, now)
  const hosts = [...new Set(['localhost', '127.0.0.1', '::1', bindAddress])]
  return issueCertificate(authority, { commonName: 'kube-scheduler', usage: 'server', hosts }, now)
}
