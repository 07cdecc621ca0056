/** The cluster's scheduler, in this thread or on one of its own. */
import { randomBytes } from 'node:crypto'
import type { TokenUser } from '../../apiserver/server.ts'
import type { PluginFactory } from '../../scheduler/index.ts'
import type { RunningComponent } from '../threads/component-thread.ts'
import type { SchedulerTask } from './messages.ts'

export interface ClusterSchedulerOptions extends SchedulerTask {
  /** Plug-ins beside those in tree; they cannot go to another thread. */
  readonly plugins?: readonly PluginFactory[]
  /** Whether it gets a thread of its own. */
  readonly onThread: boolean
  readonly log: (line: string) => void
}

const tokenBytes = 32

/**
 * Who the scheduler is: the user that upstream's roles for it are bound to, by a token that is made for one process and
 * known to nobody else.
 */
export const schedulerUser = (): TokenUser => ({
  token: randomBytes(tokenBytes).toString('base64url'),
  user: { name: 'system:kube-scheduler', groups: [] },
})

/**
 * Looks whether its configuration can work, before anything else is started. Rejects with an ExplainedError that names
 * the file.
 */
export async function checkScheduler({
  configurationFile,
  plugins,
}: Pick<ClusterSchedulerOptions, 'configurationFile' | 'plugins'>): Promise<void> {
  if (!configurationFile) return
  const { pluginRegistry, readConfigurationFile } = await import('../../scheduler/index.ts')
  readConfigurationFile(configurationFile, pluginRegistry(plugins))
}

/** Resolves when it has begun. Rejects with an ExplainedError for a configuration that cannot work. */
export async function clusterScheduler({
  plugins,
  onThread,
  log,
  ...task
}: ClusterSchedulerOptions): Promise<RunningComponent> {
  if (onThread) {
    const { componentThread } = await import('../threads/component-thread.ts')
    // In a checkout it is source, in the bundle it is built.
    const file = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './scheduler-worker.js', import.meta.url)
    return componentThread({ name: 'thread of the scheduler', file, task, log })
  }
  const { beginScheduler } = await import('./begin.ts')
  return beginScheduler(task, log, plugins)
}
