/** Runs controllers, each with its own client, all with shared informers. */
import { defaultFeatures, type FeatureGates } from '../api/features/feature-gates.ts'
import { type Controller, type RunningController, runController } from '../client/controller/controller.ts'
import { SharedInformers, transformed } from '../client/informers/shared-informers.ts'
import { pods } from '../client/kinds.ts'
import { trimPod } from '../client/objects/trim-pod.ts'
import { workQueueMetrics } from '../client/queue/queue-metrics.ts'
import type { RestClient } from '../client/rest/rest-client.ts'
import { type Clock, systemClock } from '../lib/clock/clock.ts'
import { MetricsRegistry } from '../lib/metrics/registry.ts'
import type { ControllerDescriptor, ControllerSources } from './descriptor.ts'
import { FlagValues } from './flags.ts'
import { selectControllers } from './select-controllers.ts'
import { areServed } from './served-kinds.ts'

/** The clients of controllers. */
export interface ControllerClients {
  /** The client of all informers. */
  readonly reader: RestClient
  of(controller: ControllerDescriptor): RestClient
  close(): void
}

export interface RunOptions {
  /** As in `--controllers`. */
  readonly chosen: readonly string[]
  /** By name, without leading dashes. */
  readonly flags: Readonly<Record<string, string>>
  readonly sources: ControllerSources
  /** Default: the defaults of 1.36. */
  readonly features?: FeatureGates
  /** Closed by `stop`. */
  readonly clients: ControllerClients
  /** For the metrics of queues and controllers. */
  readonly registry?: MetricsRegistry
  /** The time of the cluster. Default: the clock of the machine. */
  readonly clock?: Clock
  readonly log: (line: string) => void
}

export interface RunningControllers {
  /** Resolves when the caches of all controllers are synced. */
  readonly synced: Promise<void>
  /** Names of the running controllers. */
  readonly names: readonly string[]
  /** The debug page at `path` of a controller (`Controller.pages`), by its name or an alias; undefined if missing. */
  page(controller: string, path: string): ((query: URLSearchParams) => string) | undefined
  /** Stops all controllers. Resolves when running reconciles have finished. */
  stop(): Promise<void>
}

/** Starts controllers. Throws an ExplainedError for unknown names and invalid flags. */
export function runControllers({
  chosen,
  flags,
  sources,
  features = defaultFeatures,
  clients,
  registry,
  clock = systemClock,
  log,
}: RunOptions): RunningControllers {
  const descriptors = selectControllers(chosen, flags).filter(
    ({ name, missingRequirement: lacks, flags: own = [] }) => {
      const reason = lacks?.(sources, new FlagValues(own, flags))
      if (reason) log(`${name} does not run: ${reason}`)
      return !reason
    },
  )
  const metrics = registry && workQueueMetrics(registry)
  // Without a registry metrics are counted and never read: that is cheaper than a check at each count.
  const counted = registry ?? new MetricsRegistry()
  const informers = new SharedInformers(clients.reader, log, [transformed({ resource: pods, transform: trimPod })])
  const made = new Map<ControllerDescriptor, Controller>()
  let isStopped = false
  const started = Promise.all(
    descriptors.map(async (descriptor): Promise<RunningController | undefined> => {
      if (!(await areServed(descriptor.requires ?? [], clients.reader, () => isStopped))) return undefined
      const controller = await descriptor.make(
        { ...sources, features, clock },
        new FlagValues(descriptor.flags ?? [], flags),
        counted,
      )
      if (isStopped) return undefined
      made.set(descriptor, controller)
      return runController(
        { queue: descriptor.queue, ...controller },
        { informers, client: clients.of(descriptor), metrics, clock },
        log,
      )
    }),
  )
  return {
    synced: started.then(async (running) => void (await Promise.all(running.map((controller) => controller?.synced)))),
    names: descriptors.map(({ name }) => name),
    page(controller, path) {
      const descriptor = descriptors.find(
        ({ name, aliases = [] }) => name === controller || aliases.includes(controller),
      )
      return descriptor && made.get(descriptor)?.pages?.[path]
    },
    async stop() {
      isStopped = true
      const running = await started
      await Promise.all([informers.stop(), ...running.map((controller) => controller?.stop())])
      clients.close()
    },
  }
}
