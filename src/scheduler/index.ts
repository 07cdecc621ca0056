/**
 * Runs a scheduler against an API server: `typernetes/scheduler`. docs/scheduler.md shows how programs add plug-ins of
 * their own.
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { defaultFeatures, type FeatureGates } from '../api/features/feature-gates.ts'
import { Connection, type ServerAccess } from '../client/connection/connection.ts'
import { LeaderElector, type LeadershipEnd } from '../client/election/leader-election.ts'
import { EventRecorder } from '../client/events/event-recorder.ts'
import { RestClient } from '../client/rest/rest-client.ts'
import { defaultConfiguration, type SchedulerConfiguration } from './configuration/index.ts'
import { type ExtenderSettings, httpExtender } from './extenders/http-extender.ts'
import type { PluginFactory, Registry } from './framework/plugin.ts'
import { inTreePlugins } from './plugins/index.ts'
import type { ProfileSettings } from './profile/profile.ts'
import { informerSource } from './running/cluster-source.ts'
import { Scheduler } from './scheduler.ts'

export { parseConfiguration, readConfigurationFile, type SchedulerConfiguration } from './configuration/index.ts'
export * from './framework/index.ts'

export interface RunSchedulerOptions {
  readonly server: ServerAccess
  /** A bearer token, where the server knows the scheduler by one. */
  readonly token?: string
  /** Upstream's defaults unless said. */
  readonly configuration?: SchedulerConfiguration
  /** As `--feature-gates`; the defaults of 1.36 if absent. */
  readonly features?: FeatureGates
  /** Plug-ins beside those in tree; one of the same name takes the place of ours. */
  readonly plugins?: readonly PluginFactory[]
  /** Whether it schedules only while it holds the lease of its configuration; false unless said. */
  readonly leaderElection?: boolean
  readonly log?: (line: string) => void
}

export interface RunningScheduler {
  /** Resolves when it knows the cluster and schedules; with leader election, when it leads for the first time. */
  readonly synced: Promise<void>
  /** How it ended: with `lost`, another one leads now, and the process should end. Rejects where it could not begin. */
  readonly ended: Promise<LeadershipEnd>
  /** Prometheus' text format. */
  metrics(): string
  readonly isReady: boolean
  /** Resolves when what is being bound is bound, or given up. */
  stop(): Promise<void>
}

/** All plug-ins that a configuration may name. */
export const pluginRegistry = (plugins: readonly PluginFactory[] = []): Registry =>
  new Map([...inTreePlugins, ...plugins.map((plugin) => [plugin.name, plugin] as const)])

/** Runs one in this thread. Throws an ExplainedError for a configuration that cannot work. */
export function runScheduler(options: RunSchedulerOptions): RunningScheduler {
  const { server, token, plugins, features = defaultFeatures, leaderElection = false, log = () => {} } = options
  const registry = pluginRegistry(plugins)
  const configuration = options.configuration ?? defaultConfiguration(registry)
  const connection = new Connection({ userAgent: 'kube-scheduler', ...server })
  const client = new RestClient(connection, token)
  const stopping = new AbortController()
  const synced = Promise.withResolvers<void>()
  let scheduler: Scheduler | undefined
  let isReady = false

  const work = async (signal: AbortSignal): Promise<void> => {
    const keepAll = (plugins?.length ?? 0) + configuration.extenders.length > 0
    const source = await informerSource({ client, keepAll, log, signal })
    try {
      if (signal.aborted) return
      const { backOff, percentageOfNodesToScore, extenders } = configuration
      const running = new Scheduler({
        client,
        source,
        profiles: configuration.profiles.map((profile) => withoutGated(withoutIgnored(profile, extenders), features)),
        plugins: registry,
        extenders: extenders.map(httpExtender),
        backOff,
        percentageOfNodesToScore,
        log,
      })
      scheduler = running
      const ended = new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }))
      await Promise.race([running.start(), ended])
      isReady = true
      synced.resolve()
      await ended
      await running.stop()
    } finally {
      isReady = false
      await source.stop()
    }
  }

  const ended = (
    leaderElection
      ? elected(client, configuration, work, stopping.signal, log)
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

function elected(
  client: RestClient,
  { leaderElection: { name, namespace, leaseMs, renewMs, retryMs } }: SchedulerConfiguration,
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
  log: (line: string) => void,
): Promise<LeadershipEnd> {
  const identity = `${hostname()}_${randomUUID()}`
  const events = new EventRecorder(client, 'default-scheduler', log)
  const changed = (leader: string): void => {
    if (leader)
      log(leader === identity ? `leading by the lease ${namespace}/${name}` : `${leader} leads; waiting for its place`)
  }
  const elector = new LeaderElector({
    client,
    namespace,
    name,
    identity,
    leaseMs,
    renewMs,
    retryMs,
    events,
    changed,
    log,
  })
  return elector.run(work, signal).finally(() => events.stop())
}

/** What an extender manages and wants ignored is not asked of nodes. */
function withoutIgnored(profile: ProfileSettings, extenders: readonly ExtenderSettings[]): ProfileSettings {
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

/** Plug-ins that are there only while a feature of the same name is on. */
const gatedPlugins: readonly string[] = ['NodeDeclaredFeatures']

function withoutGated(profile: ProfileSettings, features: FeatureGates): ProfileSettings {
  const off = gatedPlugins.filter((name) => !features.isOn(name))
  if (off.length === 0) return profile
  const plugins = Object.fromEntries(
    Object.entries(profile.plugins).map(([point, set]) => [
      point,
      { ...set, enabled: set.enabled?.filter(({ name }) => !off.includes(name)) },
    ]),
  )
  return { ...profile, plugins }
}
