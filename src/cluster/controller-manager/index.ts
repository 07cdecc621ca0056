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
import {
  type ControllerSources,
  managerAgent,
  type RunningControllers,
  runControllers,
} from '../../controllers/index.ts'
import { readAuthorities } from '../credentials/identity-files.ts'
import { readSigningKey } from '../credentials/service-account-keys.ts'
import { type FlagContext, pathOf } from '../serving-options/flag-context.ts'
import { managedClients, managedCluster } from './clients.ts'
import { configurationOf, leaseOf } from './configuration.ts'
import { chosenOf, controllerValues, electionTimes, idleLines } from './flags/index.ts'
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
export async function startControllerManager(place: FlagContext): Promise<ControllerManager> {
  const { flags, log } = place
  for (const line of idleLines(flags)) log(line)
  let running: RunningControllers | undefined
  const { registry, requests } = managerMetrics(() => running?.names ?? [])
  const access: ServerAccess = { ...(await managedCluster(place)), metrics: requests }
  const sources: ControllerSources = {
    rootCA: rootCAOf(place) ?? access.ca ?? '',
    signer: signersOf(place),
    signToken: tokenSigner(place),
  }
  const features = new FeatureGates(featureSettings(flags.all('feature-gates')))
  const clients = managedClients(access, place)
  const stopping = new AbortController()
  const lease = leaseOf(flags)
  let isLost = false

  // A connection of its own, so that the controllers' requests do not delay it.
  const lead = managedClients(access, place)
  const elector =
    (flags.bool('leader-elect') ?? true)
      ? new LeaderElector({
          ...lease,
          ...electionTimes(flags),
          client: lead.reader,
          identity: `${hostname()}_${randomUUID()}`,
          events: new EventRecorder(lead.reader, managerAgent, log),
          onNewLeader: (leader) => leader && log(`the controllers of this cluster are run by ${leader}`),
          log,
        })
      : undefined
  if (elector) leaderMetrics(registry, lease.name, () => elector.isLeader)
  const leaderElection: HealthCheck = {
    name: 'leaderElection',
    check: () => (isLost ? `failed election to renew leadership on lease ${lease.name}` : undefined),
  }
  const server = await serveByFlags(place, {
    running: () => running,
    checks: [leaderElection],
    metrics: () => registry.render(),
    configuration: configurationOf(flags),
  })

  const work = async (signal: AbortSignal): Promise<void> => {
    running = runControllers({
      chosen: chosenOf(flags),
      flags: controllerValues(flags),
      sources,
      features,
      clients,
      registry,
      log,
    })
    void running.synced.then(() => signal.aborted || log('all controllers have synced'))
    if (!signal.aborted) await new Promise((aborted) => signal.addEventListener('abort', aborted, { once: true }))
    isLost = !stopping.signal.aborted
    // Another manager may lead, so running work must not write any more.
    if (isLost) clients.close()
    await running.stop()
  }
  const ended = (
    elector ? elector.run(work, stopping.signal) : work(stopping.signal).then((): LeadershipEnd => 'stopped')
  ).finally(() => {
    clients.close()
    lead.close()
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

function rootCAOf(place: FlagContext): string | undefined {
  const file = pathOf(place, 'root-ca-file')
  return file === undefined ? undefined : readAuthorities(file, '--root-ca-file')
}

function tokenSigner(place: FlagContext): ControllerSources['signToken'] {
  const file = pathOf(place, 'service-account-private-key-file')
  if (file === undefined) return undefined
  const key = readSigningKey(file, '--service-account-private-key-file')
  return async (claims) => signedToken(key, claims)
}
