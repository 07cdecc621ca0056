/** A scheduler alone, for any API server: `t8s scheduler`. Of several that run, one leads. */
import { resolve } from 'node:path'
import { FeatureGates } from '../../api/features/feature-gates.ts'
import { featureGateFault, featureSettings } from '../../apiserver/feature-gates/index.ts'
import type { HealthCheck } from '../../apiserver/health/health.ts'
import { text } from '../../apiserver/http/exchange.ts'
import type { ServerAccess } from '../../client/connection/connection.ts'
import { kubeconfigAccess, loadAccess } from '../../client/connection/load-access.ts'
import type { LeadershipEnd } from '../../client/election/leader-election.ts'
import { clusterEnvironment } from '../../kubeconfig/find-cluster.ts'
import { contextOf } from '../../kubeconfig/read-context.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import { defaultConfiguration } from '../../scheduler/configuration/index.ts'
import {
  pluginRegistry,
  type RunningScheduler,
  readConfigurationFile,
  runScheduler,
  type SchedulerConfiguration,
} from '../../scheduler/index.ts'
import { machineHosts } from '../addresses.ts'
import { type ComponentServer, serveComponent } from '../component-server/index.ts'
import { servedWithAccess } from '../component-server/own-access.ts'
import { readIdentity } from '../credentials/identity-files.ts'
import { selfSignedPair } from '../pki/self-signed.ts'

const agent = 'kube-scheduler'

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
  /** Paths that need no right; those of its health if absent. */
  readonly authorizationAlwaysAllowPaths?: readonly string[]
  readonly tlsCertFile?: string
  readonly tlsPrivateKeyFile?: string
  /** Values of `--feature-gates`. */
  readonly featureGates?: readonly string[]
  /** Serves `/debug/pprof/`, which is the default. */
  readonly profiling?: boolean
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
  const { config, featureGates = [], log } = options
  const gatesFault = featureGateFault(featureGates)
  if (gatesFault) throw new ExplainedError(gatesFault)
  const read = config
    ? readConfigurationFile(resolve(config), pluginRegistry())
    : defaultConfiguration(pluginRegistry())
  const given = Object.fromEntries(Object.entries(options.leaderElection).filter(([, value]) => value !== undefined))
  const configuration: SchedulerConfiguration = { ...read, leaderElection: { ...read.leaderElection, ...given } }
  checkTimes(configuration.leaderElection)
  const access = await accessOf(options.kubeconfig ?? configuration.clientConnection.kubeconfig)
  const { qps, burst = 100 } = configuration.clientConnection
  const rateLimit = options.rateLimit ?? (qps ? { qps, burst } : undefined)
  const server: ServerAccess = { ...access, ...(options.master && { url: options.master }), rateLimit }
  const running = runScheduler({
    server,
    configuration,
    leaderElection: configuration.leaderElection.leaderElect,
    features: new FeatureGates(featureSettings(featureGates)),
    log,
  })
  try {
    const port = options.port === undefined ? undefined : await servedPort(options, server, running, options.port)
    return {
      port: port?.port,
      ended: running.ended,
      async stop() {
        await running.stop()
        await port?.stop(0)
      },
    }
  } catch (error) {
    await running.stop()
    throw error
  }
}

function checkTimes({ leaseMs, renewMs, retryMs }: SchedulerConfiguration['leaderElection']): void {
  if (leaseMs <= renewMs)
    throw new ExplainedError('--leader-elect-lease-duration has to be longer than --leader-elect-renew-deadline')
  if (renewMs <= retryMs * 1.2)
    throw new ExplainedError(
      '--leader-elect-renew-deadline has to be longer than 1.2 times --leader-elect-retry-period',
    )
}

const accessOf = async (kubeconfig: string | undefined): Promise<ServerAccess> =>
  kubeconfig
    ? kubeconfigAccess(await contextOf([resolve(kubeconfig)]))
    : loadAccess({ environment: await clusterEnvironment({}) })

/** The port: health for everybody, the rest for those whom the API server knows and lets in. */
async function servedPort(
  options: LoneSchedulerOptions,
  server: ServerAccess,
  running: RunningScheduler,
  port: number,
): Promise<ComponentServer> {
  const { bindAddress, authenticationKubeconfig, authorizationKubeconfig, log } = options
  const [authentication, authorization] = await Promise.all(
    [authenticationKubeconfig, authorizationKubeconfig].map((kubeconfig) =>
      kubeconfig ? accessOf(kubeconfig) : server,
    ),
  )
  const tls =
    readIdentity(options).tls ??
    (await selfSignedPair(agent, [...new Set(['localhost', '127.0.0.1', '::1', ...machineHosts(bindAddress)])]))
  const handlers: HealthCheck = {
    name: 'sched-handler-sync',
    check: () => (running.isReady ? undefined : 'handlers are not fully synchronized'),
  }
  return servedWithAccess(
    {
      authentication,
      authorization,
      openPaths: options.authorizationAlwaysAllowPaths,
      userAgent: agent,
      followsCluster: true,
      log,
    },
    (access) =>
      serveComponent({
        bindAddress,
        port,
        portFlag: '--secure-port',
        tls,
        access,
        profiling: options.profiling,
        checks: (path) => (path === 'readyz' ? [handlers] : []),
        pages: {
          '/metrics': () =>
            text(200, running.metrics(), { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }),
        },
      }),
  )
}
