/** Starts the cluster's own scheduler, with leader election only if processes of other clusters share the store. */
import { FeatureGates } from '../../api/features/feature-gates.ts'
import { Connection } from '../../client/connection/connection.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import type { Clock } from '../../lib/clock/clock.ts'
import { defaultConfiguration } from '../../scheduler/configuration/index.ts'
import {
  type PluginFactory,
  pluginRegistry,
  type RunningScheduler,
  readConfigurationFile,
  runScheduler,
  type SchedulerConfiguration,
} from '../../scheduler/index.ts'
import type { RunningComponent } from '../threads/component-thread.ts'
import { runElected } from '../threads/elected.ts'
import type { SchedulerSettings } from './messages.ts'

const component = 'kube-scheduler'

/** Throws an ExplainedError for an invalid configuration. */
export function startScheduler(
  settings: SchedulerSettings,
  clock: Clock,
  log: (line: string) => void,
  plugins?: readonly PluginFactory[],
): RunningComponent {
  const { server, token, configurationFile, features, isElected } = settings
  const registry = pluginRegistry(plugins)
  const configuration = configurationFile
    ? readConfigurationFile(configurationFile, registry)
    : defaultConfiguration(registry)
  function start(): RunningScheduler {
    const gates = new FeatureGates(features)
    const running = runScheduler({ server, token, configuration, plugins, features: gates, clock, log })
    running.ended.catch((error: Error) => log(`the scheduler has ended: ${error.message}`))
    return running
  }
  return isElected && configuration.leaderElection.leaderElect ? elected(settings, configuration, start, log) : start()
}

function elected(
  { server, token }: SchedulerSettings,
  { leaderElection: { namespace, name, leaseMs, renewMs, retryMs } }: SchedulerConfiguration,
  start: () => RunningScheduler,
  log: (line: string) => void,
): RunningComponent {
  const connection = new Connection({ ...server, userAgent: component })
  const running = runElected({
    client: new RestClient(connection, token),
    component,
    namespace,
    name,
    leaseDurationMs: leaseMs,
    renewDeadlineMs: renewMs,
    retryPeriodMs: retryMs,
    start,
    log,
  })
  return {
    synced: running.synced,
    async stop() {
      await running.stop()
      connection.close()
    },
  }
}
