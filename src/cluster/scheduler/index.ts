/** The cluster's scheduler, in this thread or on its own. */
import { randomBytes } from 'node:crypto'
import type { TokenUser } from '../../apiserver/server.ts'
import type { MovableClock } from '../../lib/clock/movable-clock.ts'
import type { PluginFactory } from '../../scheduler/index.ts'
import type { RunningComponent } from '../threads/component-thread.ts'
import type { SchedulerSettings, SchedulerTask } from './messages.ts'

export interface ClusterSchedulerOptions extends SchedulerSettings {
  readonly clock: MovableClock
  /** Plugins besides the in-tree ones; they cannot be passed to another thread. */
  readonly plugins?: readonly PluginFactory[]
  /** True to run it on a thread of its own. */
  readonly onThread: boolean
  readonly log: (line: string) => void
}

const tokenBytes = 32

/**
 * Creates the scheduler's user, to which upstream's roles are bound, with a random token that exists only in this
 * process.
 */
export const schedulerUser = (): TokenUser => ({
  token: randomBytes(tokenBytes).toString('base64url'),
  user: { name: 'system:kube-scheduler', groups: [] },
})

/**
 * Validates the scheduler's configuration before anything is started. Rejects with an ExplainedError that names the
 * file.
 */
export async function checkScheduler({
  configurationFile,
  plugins,
}: Pick<ClusterSchedulerOptions, 'configurationFile' | 'plugins'>): Promise<void> {
  if (!configurationFile) return
  const { pluginRegistry, readConfigurationFile } = await import('../../scheduler/index.ts')
  readConfigurationFile(configurationFile, pluginRegistry(plugins))
}

/** Resolves when the scheduler has started. Rejects with an ExplainedError for an invalid configuration. */
export async function clusterScheduler({
  plugins,
  onThread,
  clock,
  log,
  ...settings
}: ClusterSchedulerOptions): Promise<RunningComponent> {
  if (onThread) {
    const { componentThread } = await import('../threads/component-thread.ts')
    // Source in a checkout, built in the bundle.
    const file = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './scheduler-worker.js', import.meta.url)
    const task: SchedulerTask = { ...settings, clockBuffer: clock.memory.buffer }
    return componentThread({ name: 'thread of the scheduler', file, task, log })
  }
  const { startScheduler: beginScheduler } = await import('./start.ts')
  return beginScheduler(settings, clock, log, plugins)
}
