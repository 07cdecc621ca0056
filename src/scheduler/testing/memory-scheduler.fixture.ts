/** A scheduler for an in-memory cluster. Default: the default profile. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseConfiguration } from '../configuration/index.ts'
import type { Extender } from '../framework/extender.ts'
import type { PluginFactory } from '../framework/plugin.ts'
import { inTreePlugins } from '../plugins/index.ts'
import { Scheduler } from '../scheduler.ts'
import { MemoryCluster } from './memory-cluster.fixture.ts'

export interface MemorySchedulerOptions {
  /** Fields of a KubeSchedulerConfiguration. */
  readonly configuration?: Readonly<Record<string, unknown>>
  /** Plug-ins besides those in tree. */
  readonly plugins?: readonly PluginFactory[]
  readonly extenders?: readonly Extender[]
  readonly random?: () => number
  readonly log?: (line: string) => void
}

export interface MemoryScheduler {
  readonly cluster: MemoryCluster
  readonly scheduler: Scheduler
  /** Resolves when the condition holds; rejects after ten seconds. */
  until(what: string, condition: () => boolean): Promise<void>
}

const patienceMs = 10_000

/** Starts immediately; `cluster` may hold objects already. Stop the scheduler at the end. */
export async function memoryScheduler(
  options: MemorySchedulerOptions = {},
  cluster = new MemoryCluster(),
): Promise<MemoryScheduler> {
  const { configuration, plugins = [], extenders, random, log = console.error } = options
  const registry = new Map([
    ...inTreePlugins,
    ...plugins.map((plugin): [string, PluginFactory] => [plugin.name, plugin]),
  ])
  const kind = { apiVersion: 'kubescheduler.config.k8s.io/v1', kind: 'KubeSchedulerConfiguration' }
  const { profiles, backOff, percentageOfNodesToScore } = parseConfiguration({ ...kind, ...configuration }, registry)
  const scheduler = new Scheduler({
    client: cluster.client,
    source: cluster,
    profiles,
    plugins: registry,
    extenders,
    backOff,
    percentageOfNodesToScore,
    random,
    log,
  })
  await scheduler.start()
  return {
    cluster,
    scheduler,
    async until(what, condition) {
      const deadline = performance.now() + patienceMs
      while (!condition()) {
        if (performance.now() > deadline) throw new Error(`timed out after ${patienceMs} ms: ${what}`)
        await nextTurn()
      }
    },
  }
}
