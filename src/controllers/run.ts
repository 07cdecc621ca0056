/** Runs controllers together, each with a client of its own, all with the same informers. */
import { defaultFeatures, type FeatureGates } from '../api/features/feature-gates.ts'
import { type Controller, type RunningController, runController } from '../client/controller/controller.ts'
import { SharedInformers, transformed } from '../client/informers/shared-informers.ts'
import { pods } from '../client/kinds.ts'
import { leanPod } from '../client/objects/lean-pod.ts'
import { workQueueMetrics } from '../client/queue/queue-metrics.ts'
import type { RestClient } from '../client/rest/rest-client.ts'
import { MetricsRegistry } from '../lib/metrics/registry.ts'
import { chosenControllers } from './choice.ts'
import type { ControllerDescriptor, ControllerSources } from './descriptor.ts'
import { FlagValues } from './flags.ts'
import { areServed } from './served-kinds.ts'

/** As whom controllers see and act. */
export interface ControllerClients {
  /** What all informers read by. */
  readonly reader: RestClient
  of(controller: ControllerDescriptor): RestClient
  close(): void
}

export interface RunOptions {
  /** As `--controllers`. */
  readonly chosen: readonly string[]
  /** By their names without dashes. */
  readonly flags: Readonly<Record<string, string>>
  readonly sources: ControllerSources
  /** The defaults of 1.36 if absent. */
  readonly features?: FeatureGates
  /** Closed at the end. */
  readonly clients: ControllerClients
  /** Where queues and controllers are counted. */
  readonly registry?: MetricsRegistry
  readonly log: (line: string) => void
}

export interface RunningControllers {
  /** Resolves when all controllers know what was there at the start. */
  readonly synced: Promise<void>
  /** Those that run, by name. */
  readonly names: readonly string[]
  /**
   * The page `PATH` of a controller, by its name or one of its aliases (`Controller.pages`); undefined where there is
   * none.
   */
  page(controller: string, path: string): ((query: URLSearchParams) => string) | undefined
  /** Resolves when what is under way is done. */
  stop(): Promise<void>
}

/** Runs controllers. Throws an ExplainedError for names and flags that make no sense. */
export function runControllers({
  chosen,
  flags,
  sources,
  features = defaultFeatures,
  clients,
  registry,
  log,
}: RunOptions): RunningControllers {
  const descriptors = chosenControllers(chosen, flags).filter(({ name, lacks, flags: own = [] }) => {
    const lacking = lacks?.(sources, new FlagValues(own, flags))
    if (lacking) log(`${name} does not run: ${lacking}`)
    return !lacking
  })
  const metrics = registry && workQueueMetrics(registry)
  // Where nobody asks, it is counted all the same: that costs less than asking whether somebody will.
  const counted = registry ?? new MetricsRegistry()
  const informers = new SharedInformers(clients.reader, log, [transformed({ resource: pods, transform: leanPod })])
  const made = new Map<ControllerDescriptor, Controller>()
  let isStopped = false
  const started = Promise.all(
    descriptors.map(async (descriptor): Promise<RunningController | undefined> => {
      if (!(await areServed(descriptor.requires ?? [], clients.reader, () => isStopped))) return undefined
      const controller = await descriptor.make(
        { ...sources, features },
        new FlagValues(descriptor.flags ?? [], flags),
        counted,
      )
      if (isStopped) return undefined
      made.set(descriptor, controller)
      return runController(
        { queue: descriptor.queue, ...controller },
        { informers, client: clients.of(descriptor), metrics },
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
