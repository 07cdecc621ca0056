/** Runs controllers with shared informers, optionally only while this process is the leader. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Clock } from '../../lib/clock/clock.ts'
import { plainLog } from '../../lib/log/log.ts'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { type LeaderElectionOptions, LeaderElector, type LeadershipEnd } from '../election/leader-election.ts'
import { leaderMetrics } from '../election/leader-metrics.ts'
import { EventRecorder } from '../events/event-recorder.ts'
import { SharedInformers } from '../informers/shared-informers.ts'
import { workQueueMetrics } from '../queue/queue-metrics.ts'
import type { RestClient } from '../rest/rest-client.ts'
import { type Controller, type RunningController, runController } from './controller.ts'

/** The controllers of a manager, and the lease and metrics that they share. */
export interface ManagerOptions {
  readonly client: RestClient
  readonly controllers: readonly Controller[]
  /** The lease for leader election. Default: none; the controllers start immediately. */
  readonly leaderElection?: Omit<LeaderElectionOptions, 'client' | 'identity' | 'log'> & { readonly identity?: string }
  /** Gets log lines. Default: stderr. */
  readonly log?: (line: string) => void
  /** The registry for the metrics of queues. Default: a new one. */
  readonly metrics?: MetricsRegistry
  /** The time that the controllers follow. Default: the clock of the machine. */
  readonly clock?: Clock
}

/** Running controllers that share informers, a lease and metrics. */
export interface Manager {
  /** True while its controllers run. */
  readonly isLeader: boolean
  /** Resolves when all caches are synced and the controllers have started; not before this process leads. */
  readonly ready: Promise<void>
  /**
   * Resolves when the controllers have ended: `stopped` after `stop()`, `lost` if the lease was lost. Another process
   * may lead then, so end this one and restart it.
   */
  readonly ended: Promise<LeadershipEnd>
  /** Returns the metrics in Prometheus' text format. */
  metrics(): string
  /** Stops the controllers after their current reconciles, and releases the lease. */
  stop(): Promise<void>
}

/**
 * Starts the controllers, or waits in the background until this process leads.
 * @example
 * const running = manager({ client, controllers: [fleetController] })
 * stopSignals().addEventListener('abort', () => void running.stop())
 * await running.ended
 */
export function manager({ client, controllers, leaderElection, log = plainLog, ...options }: ManagerOptions): Manager {
  const registry = options.metrics ?? new MetricsRegistry()
  const metrics = workQueueMetrics(registry)
  const stopping = new AbortController()
  const { clock } = options
  const { promise: ready, resolve } = Promise.withResolvers<void>()
  const work = async (signal: AbortSignal): Promise<void> => {
    const informers = new SharedInformers(client, log)
    const running: RunningController[] = controllers.map((controller) =>
      runController(controller, { informers, client, metrics, clock }, log),
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
