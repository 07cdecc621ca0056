/** Starts the cluster's own scheduler. It is the only one, so there is no leader election. */
import { FeatureGates } from '../../api/features/feature-gates.ts'
import { type PluginFactory, pluginRegistry, readConfigurationFile, runScheduler } from '../../scheduler/index.ts'
import type { RunningComponent } from '../threads/component-thread.ts'
import type { SchedulerTask } from './messages.ts'

/** Throws an ExplainedError for an invalid configuration. */
export function startScheduler(
  { server, token, configurationFile, features }: SchedulerTask,
  log: (line: string) => void,
  plugins?: readonly PluginFactory[],
): RunningComponent {
  const configuration = configurationFile
    ? readConfigurationFile(configurationFile, pluginRegistry(plugins))
    : undefined
  const running = runScheduler({ server, token, configuration, plugins, features: new FeatureGates(features), log })
  running.ended.catch((error: Error) => log(`the scheduler has ended: ${error.message}`))
  return running
}
