/**
 * A controller manager of its own process, with the flags of kube-controller-manager: against any API server, with
 * leader election.
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { FeatureGates } from '../../api/features/feature-gates.ts'
import { signedToken } from '../../apiserver/authentication/service-accounts/signing-keys.ts'
import { featureSettings } from '../../apiserver/feature-gates/index.ts'
import type { HealthCheck } from '../../apiserver/health/health.ts'
import type { ServerAccess } from '../../client/connection/connection.ts'
import { LeaderElector, type LeadershipEnd } from '../../client/election/leader-election.ts'
import { leaderMetrics } from '../../client/election/leader-metrics.ts'
import { EventRecorder } from '../../client/events/event-recorder.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { type ControllerSources, managerAgent, runControllers } from '../../controllers/index.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { readAuthorities } from '../credentials/identity-files.ts'
import { readSigningKey } from '../credentials/service-account-keys.ts'
import { type FlagContext, pathOf } from '../serving-options/flag-context.ts'
import { managedClients, managedCluster } from './clients.ts'
import { configurationOf, leaseOf } from './configuration.ts'
import { chosenOf, controllerValues, electionTimes, type FlagValues, idleLines } from './flags/index.ts'
import { LeadingControllers } from './leading-controllers.ts'
import { managerMetrics } from './metrics.ts'
import { serveByFlags } from './serving.ts'
import { signersOf } from './signers.ts'

export { logFormatOf } from '../../apiserver/serving-flags/log-format.ts'
export { managerFlags, managerHelp } from './flags/index.ts'

export interface ControllerManager {
  /** The port of `/healthz` and the other pages; undefined if it is off. */
  readonly port: number | undefined
  /** How it ended: `lost` if another manager may be leading. */
  readonly ended: Promise<LeadershipEnd>
  /** Stops the controllers, which finish their current work, and releases the lease. */
  stop(graceMs: number): Promise<void>
}

/**
 * Starts the manager; resolves when it listens. Rejects with an ExplainedError for conflicting flags and unreadable
 * files.
 */
export async function startControllerManager(context: FlagContext): Promise<ControllerManager> {
  const { flags, log } = context
  for (const line of idleLines(flags)) log(line)
  const { registry, requests } = managerMetrics(() => controllers.running?.names ?? [])
  const access: ServerAccess = { ...(await managedCluster(context)), metrics: requests }
  const sources = sourcesOf(context, access)
  const features = new FeatureGates(featureSettings(flags.all('feature-gates')))
  const clients = managedClients(access, context)
  const stopping = new AbortController()
  const controllers = new LeadingControllers({
    start: () =>
      runControllers({
        chosen: chosenOf(flags),
        flags: controllerValues(flags),
        sources,
        features,
        clients,
        registry,
        log,
      }),
    clients,
    stopping: stopping.signal,
    log,
  })
  // A connection of its own, so that the controllers' requests do not delay it.
  const electionClients = managedClients(access, context)
  const elector = leaderElector(context, electionClients.reader, registry)
  const server = await serveByFlags(context, {
    running: () => controllers.running,
    checks: [electionCheck(controllers, flags)],
    metrics: () => registry.render(),
    configuration: configurationOf(flags),
  })
  const ended = (
    elector?.run((signal) => controllers.run(signal), stopping.signal) ??
    controllers.run(stopping.signal).then((): LeadershipEnd => 'stopped')
  ).finally(() => {
    clients.close()
    electionClients.close()
  })
  return {
    port: server?.port,
    ended,
    async stop(graceMs) {
      stopping.abort()
      await Promise.all([ended, server?.stop(graceMs)])
    },
  }
}

const sourcesOf = (context: FlagContext, access: ServerAccess): ControllerSources => ({
  rootCA: rootCAOf(context) ?? access.ca ?? '',
  signer: signersOf(context),
  signToken: tokenSigner(context),
})

/** Undefined without leader election. */
function leaderElector(
  { flags, log }: FlagContext,
  client: RestClient,
  registry: MetricsRegistry,
): LeaderElector | undefined {
  if (!(flags.bool('leader-elect') ?? true)) return undefined
  const lease = leaseOf(flags)
  const identity = `${hostname()}_${randomUUID()}`
  const elector = new LeaderElector({
    ...lease,
    ...electionTimes(flags),
    client,
    identity,
    events: new EventRecorder(client, managerAgent, log),
    onNewLeader(leader) {
      if (leader === identity) log('this process runs the controllers of the cluster')
      else if (leader) log(`the controllers of this cluster are run by ${leader}`)
    },
    log,
  })
  leaderMetrics(registry, lease.name, () => elector.isLeader)
  return elector
}

const electionCheck = (controllers: LeadingControllers, flags: FlagValues): HealthCheck => ({
  name: 'leaderElection',
  check: () => (controllers.isLost ? `failed election to renew leadership on lease ${leaseOf(flags).name}` : undefined),
})

function rootCAOf(context: FlagContext): string | undefined {
  const file = pathOf(context, 'root-ca-file')
  return file === undefined ? undefined : readAuthorities(file, '--root-ca-file')
}

function tokenSigner(context: FlagContext): ControllerSources['signToken'] {
  const file = pathOf(context, 'service-account-private-key-file')
  if (file === undefined) return undefined
  const key = readSigningKey(file, '--service-account-private-key-file')
  return async (claims) => signedToken(key, claims)
}
