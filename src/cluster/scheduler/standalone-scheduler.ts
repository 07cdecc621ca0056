/** A scheduler for any API server (`t8s scheduler`), with leader election. */
import { resolve } from 'node:path'
import { FeatureGates } from '../../api/features/feature-gates.ts'
import { featureGateFault, featureSettings } from '../../apiserver/feature-gates/index.ts'
import type { HealthCheck } from '../../apiserver/health/health.ts'
import { text } from '../../apiserver/http/exchange.ts'
import type { ServerAccess } from '../../client/connection/connection.ts'
import type { LeadershipEnd } from '../../client/election/leader-election.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import { defaultConfiguration } from '../../scheduler/configuration/index.ts'
import {
  pluginRegistry,
  type RunningScheduler,
  readConfigurationFile,
  runScheduler,
  type SchedulerConfiguration,
} from '../../scheduler/index.ts'
import { machineHosts } from '../addresses/addresses.ts'
import { serveWithAccess } from '../component-server/component-access.ts'
import { type ComponentServer, serveComponent } from '../component-server/index.ts'
import { readIdentity } from '../credentials/identity-files.ts'
import { accessOf } from '../kubeconfig-access.ts'
import { selfSignedPair } from '../pki/self-signed.ts'

const agent = 'kube-scheduler'

export interface StandaloneSchedulerOptions {
  /** A kubeconfig. Default: that of the configuration, $KUBECONFIG, or the pod's service account. */
  readonly kubeconfig?: string
  /** The server's URL; overrides the kubeconfig's. */
  readonly master?: string
  /** A file with a KubeSchedulerConfiguration. */
  readonly config?: string
  /** Overrides the configuration. */
  readonly leaderElection: Partial<SchedulerConfiguration['leaderElection']>
  readonly rateLimit?: { readonly qps: number; readonly burst: number }
  readonly bindAddress: string
  /** Undefined for no port; 0 for any free one. */
  readonly port: number | undefined
  readonly authenticationKubeconfig?: string
  readonly authorizationKubeconfig?: string
  /** Paths that need no authorization. Default: the health checks. */
  readonly authorizationAlwaysAllowPaths?: readonly string[]
  readonly tlsCertFile?: string
  readonly tlsPrivateKeyFile?: string
  /** Values of `--feature-gates`. */
  readonly featureGates?: readonly string[]
  /** Serves `/debug/pprof/`. Default: true. */
  readonly profiling?: boolean
  readonly log: (line: string) => void
}

export interface StandaloneScheduler {
  /** The port of `/healthz` and the other pages. */
  readonly port: number | undefined
  /** How it ended; `lost` if another scheduler leads. */
  readonly ended: Promise<LeadershipEnd>
  stop(): Promise<void>
}

/** Rejects with an ExplainedError for unusable files and flags. */
export async function startStandaloneScheduler(options: StandaloneSchedulerOptions): Promise<StandaloneScheduler> {
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
    throw new ExplainedError('--leader-elect-lease-duration must be longer than --leader-elect-renew-deadline')
  if (renewMs <= retryMs * 1.2)
    throw new ExplainedError('--leader-elect-renew-deadline must be longer than 1.2 times --leader-elect-retry-period')
}

/** Serves health for everybody and the rest for users that the API server authenticates and authorizes. */
async function servedPort(
  options: StandaloneSchedulerOptions,
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
  return serveWithAccess(
    {
      authentication,
      authorization,
      openPaths: options.authorizationAlwaysAllowPaths,
      userAgent: agent,
      usesClusterAuthorities: true,
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
