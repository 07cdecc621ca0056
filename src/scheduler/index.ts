/** Runs a scheduler against an API server: `typernetes/scheduler`. docs/scheduler.md shows how to add plug-ins. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { defaultFeatures, type FeatureGates } from '../api/features/feature-gates.ts'
import { Connection, type ServerAccess } from '../client/connection/connection.ts'
import { LeaderElector, type LeadershipEnd } from '../client/election/leader-election.ts'
import { EventRecorder } from '../client/events/event-recorder.ts'
import { RestClient } from '../client/rest/rest-client.ts'
import type { Clock } from '../lib/clock/clock.ts'
import { defaultConfiguration, type SchedulerConfiguration } from './configuration/index.ts'
import { httpExtender } from './extenders/http-extender.ts'
import type { ExtenderSettings } from './extenders/settings.ts'
import type { PluginFactory, Registry } from './framework/plugin.ts'
import { inTreePlugins } from './plugins/index.ts'
import type { ProfileSettings } from './profile/profile.ts'
import { type ClusterSource, informerSource } from './runtime/cluster-source.ts'
import { Scheduler } from './scheduler.ts'

export { parseConfiguration, readConfigurationFile, type SchedulerConfiguration } from './configuration/index.ts'
export * from './framework/index.ts'

/** The API server and the settings of a scheduler. */
export interface RunSchedulerOptions {
  readonly server: ServerAccess
  /** The bearer token of the scheduler, if the server needs one. */
  readonly token?: string
  /** Default: upstream's defaults. */
  readonly configuration?: SchedulerConfiguration
  /** As `--feature-gates`. Default: the defaults of 1.36. */
  readonly features?: FeatureGates
  /** Plug-ins beside those in tree. One with the name of an in-tree plug-in replaces it. */
  readonly plugins?: readonly PluginFactory[]
  /** True to schedule only while holding the lease named in the configuration. Default: false. */
  readonly leaderElection?: boolean
  /** The clock of back-offs, time-outs and timestamps. Default: the machine's. */
  readonly clock?: Clock
  readonly log?: (line: string) => void
}

/** A scheduler that `runScheduler` has started. */
export interface RunningScheduler {
  /** Resolves when the caches are synced and scheduling has begun; with leader election, at the first election. */
  readonly synced: Promise<void>
  /**
   * The reason for the end. After `lost`, another instance leads and the process should exit. Rejects if the start
   * failed.
   */
  readonly ended: Promise<LeadershipEnd>
  /** The metrics in Prometheus' text format. */
  metrics(): string
  readonly isReady: boolean
  /** Resolves when bindings in progress have ended or timed out. */
  stop(): Promise<void>
}

/** All plug-ins that a configuration may name. */
export const pluginRegistry = (plugins: readonly PluginFactory[] = []): Registry =>
  new Map([...inTreePlugins, ...plugins.map((plugin) => [plugin.name, plugin] as const)])

/**
 * Runs a scheduler in this thread. Throws an ExplainedError for a configuration that cannot work.
 * @example const scheduler = runScheduler({ server: cluster.client, plugins: [myPlugin] })
 */
export function runScheduler(options: RunSchedulerOptions): RunningScheduler {
  const { server, token, plugins, leaderElection = false, log = () => {} } = options
  const configuration = options.configuration ?? defaultConfiguration(pluginRegistry(plugins))
  const connection = new Connection({ userAgent: 'kube-scheduler', ...server })
  const client = new RestClient(connection, token)
  const stopping = new AbortController()
  const synced = Promise.withResolvers<void>()
  let scheduler: Scheduler | undefined
  let isReady = false

  const work = async (signal: AbortSignal): Promise<void> => {
    const cacheFullPods = (plugins?.length ?? 0) + configuration.extenders.length > 0
    const source = await informerSource({ client, cacheFullPods, log, signal })
    try {
      if (signal.aborted) return
      const running = makeScheduler(options, configuration, client, source)
      scheduler = running
      const aborted = new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }))
      await Promise.race([running.start(), aborted])
      isReady = true
      synced.resolve()
      await aborted
      await running.stop()
    } finally {
      isReady = false
      await source.stop()
    }
  }

  const ended = (
    leaderElection
      ? runWhenElected(client, configuration, work, stopping.signal, log)
      : work(stopping.signal).then((): LeadershipEnd => 'stopped')
  ).finally(() => {
    synced.resolve()
    connection.close()
  })
  return {
    synced: synced.promise,
    ended,
    metrics: () => scheduler?.metrics.registry.render() ?? '',
    get isReady() {
      return isReady
    },
    async stop() {
      stopping.abort()
      await ended.catch(() => {})
    },
  }
}

function makeScheduler(
  { plugins, features = defaultFeatures, clock, log = () => {} }: RunSchedulerOptions,
  { profiles, extenders, backOff, percentageOfNodesToScore }: SchedulerConfiguration,
  client: RestClient,
  source: ClusterSource,
): Scheduler {
  return new Scheduler({
    client,
    source,
    profiles: profiles.map((profile) => withoutGatedPlugins(withIgnoredResources(profile, extenders), features)),
    plugins: pluginRegistry(plugins),
    extenders: extenders.map(httpExtender),
    backOff,
    percentageOfNodesToScore,
    clock,
    log,
  })
}

function runWhenElected(
  client: RestClient,
  { leaderElection: { name, namespace, leaseMs, renewMs, retryMs } }: SchedulerConfiguration,
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
  log: (line: string) => void,
): Promise<LeadershipEnd> {
  const identity = `${hostname()}_${randomUUID()}`
  const events = new EventRecorder(client, 'default-scheduler', log)
  const logLeader = (leader: string): void => {
    if (leader)
      log(leader === identity ? `leading by the lease ${namespace}/${name}` : `${leader} leads; waiting for the lease`)
  }
  const elector = new LeaderElector({
    client,
    namespace,
    name,
    identity,
    leaseDurationMs: leaseMs,
    renewDeadlineMs: renewMs,
    retryPeriodMs: retryMs,
    events,
    onNewLeader: logLeader,
    log,
  })
  return elector.run(work, signal).finally(() => events.stop())
}

/** Adds resources that extenders manage, with `ignoredByScheduler`, to those that NodeResourcesFit ignores. */
function withIgnoredResources(profile: ProfileSettings, extenders: readonly ExtenderSettings[]): ProfileSettings {
  const ignored = extenders.flatMap(({ managedResources = [] }) =>
    managedResources.filter(({ ignoredByScheduler }) => ignoredByScheduler).map(({ name }) => name),
  )
  if (ignored.length === 0) return profile
  const fit = inTreePlugins.get('NodeResourcesFit')
  const args = (profile.args.get('NodeResourcesFit') ?? fit?.args?.withDefaults({})) as {
    readonly ignoredResources?: readonly string[]
  }
  return {
    ...profile,
    args: new Map([
      ...profile.args,
      ['NodeResourcesFit', { ...args, ignoredResources: [...(args.ignoredResources ?? []), ...ignored] }],
    ]),
  }
}

/** Plug-ins that are enabled only with the feature gate of the same name. */
const gatedPlugins: readonly string[] = ['NodeDeclaredFeatures']

function withoutGatedPlugins(profile: ProfileSettings, features: FeatureGates): ProfileSettings {
  const off = gatedPlugins.filter((name) => !features.isEnabled(name))
  if (off.length === 0) return profile
  const plugins = Object.fromEntries(
    Object.entries(profile.plugins).map(([point, set]) => [
      point,
      { ...set, enabled: set.enabled?.filter(({ name }) => !off.includes(name)) },
    ]),
  )
  return { ...profile, plugins }
}
