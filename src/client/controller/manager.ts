/**
 * Runs controllers together: over one connection, with informers that they share, and if that is wanted only while this
 * process leads.
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { plainLog } from '../../lib/log/log.ts'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { type LeaderElectionOptions, LeaderElector, type LeadershipEnd } from '../election/leader-election.ts'
import { leaderMetrics } from '../election/leader-metrics.ts'
import { EventRecorder } from '../events/event-recorder.ts'
import { SharedInformers } from '../informers/shared-informers.ts'
import { workQueueMetrics } from '../queue/queue-metrics.ts'
import type { RestClient } from '../rest/rest-client.ts'
import { type Controller, type RunningController, runController } from './controller.ts'

export interface ManagerOptions {
  readonly client: RestClient
  readonly controllers: readonly Controller[]
  /** The lease that the leader holds; without it the controllers run at once. */
  readonly leaderElection?: Omit<LeaderElectionOptions, 'client' | 'identity' | 'log'> & { readonly identity?: string }
  /** Told in lines what is worth knowing; stderr unless said. */
  readonly log?: (line: string) => void
  /** Where queues are counted; one of its own unless said. */
  readonly metrics?: MetricsRegistry
}

export interface Manager {
  /** Whether its controllers run. */
  readonly isLeader: boolean
  /** Resolves when the controllers know all that was there and have begun; not before this process leads. */
  readonly ready: Promise<void>
  /**
   * Resolves when the controllers have ended: `stopped` if that was wanted, `lost` if somebody else may lead now: a
   * program ends then, and is started anew.
   */
  readonly ended: Promise<LeadershipEnd>
  /** Metrics in Prometheus' text format. */
  metrics(): string
  /** Ends the controllers, which finish what they are at, and gives the lease back. */
  stop(): Promise<void>
}

/** Starts the controllers, or waits in the background to lead. */
export function manager({ client, controllers, leaderElection, log = plainLog, ...options }: ManagerOptions): Manager {
  const registry = options.metrics ?? new MetricsRegistry()
  const metrics = workQueueMetrics(registry)
  const stopping = new AbortController()
  const { promise: ready, resolve } = Promise.withResolvers<void>()
  const work = async (signal: AbortSignal): Promise<void> => {
    const informers = new SharedInformers(client, log)
    const running: RunningController[] = controllers.map((controller) =>
      runController(controller, { informers, client, metrics }, log),
    )
    void Promise.all(running.map(({ synced }) => synced)).then(() => resolve())
    if (!signal.aborted) await new Promise((aborted) => signal.addEventListener('abort', aborted, { once: true }))
    await Promise.all([informers.stop(), ...running.map((controller) => controller.stop())])
  }
  const elector =
    leaderElection &&
    new LeaderElector({
      events: new EventRecorder(client, leaderElection.name, log),
      ...leaderElection,
      client,
      log,
      identity: leaderElection.identity ?? `${hostname()}_${randomUUID()}`,
    })
  if (elector && leaderElection) leaderMetrics(registry, leaderElection.name, () => elector.isLeader)
  const ended = elector
    ? elector.run(work, stopping.signal)
    : work(stopping.signal).then((): LeadershipEnd => 'stopped')
  return {
    get isLeader() {
      return elector ? elector.isLeader : !stopping.signal.aborted
    },
    ready,
    ended,
    metrics: () => registry.render(),
    async stop() {
      stopping.abort()
      await ended
    },
  }
}
