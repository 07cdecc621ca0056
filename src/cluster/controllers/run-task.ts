/** Runs the controllers of a cluster in this thread, and serves what they tell of themselves if that is wanted. */
import { FeatureGates } from '../../api/features/feature-gates.ts'
import type { RequestMetrics } from '../../client/connection/request-metrics.ts'
import {
  type ControllerPlan,
  plannedClients,
  type RunningControllers,
  runControllers,
} from '../../controllers/index.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { certificateSigner } from '../pki/certificate-signer.ts'
import type { Claims, ControllerTask, ManagerPlace, ServerPlace } from './messages.ts'

/** Controllers that have begun. */
export interface BegunControllers {
  /** Resolves when all controllers know what was there at the start. */
  readonly synced: Promise<void>
  /** What is wrong with their thread; undefined if it is healthy. */
  readonly check?: () => Promise<string | undefined>
  /** Resolves when what is under way is done. */
  stop(): Promise<void>
}

/** Resolves when they have begun. Rejects with an ExplainedError where the port of `manager` cannot be had. */
export async function runTask(
  { plan, server, authority, manager }: ControllerTask,
  signToken: (claims: Claims) => Promise<string>,
  log: (line: string) => void,
): Promise<BegunControllers> {
  const run = (registry?: MetricsRegistry, metrics?: RequestMetrics) =>
    runControllers({
      chosen: plan.controllers.map(({ name }) => name),
      flags: plan.flags,
      features: new FeatureGates(plan.features),
      sources: { rootCA: server.ca, signer: certificateSigner(authority), signToken },
      clients: plannedClients(plan, { ...server, metrics }),
      registry,
      log,
    })
  return manager ? served(plan, server, manager, run, log) : run()
}

const graceMs = 1_000

async function served(
  plan: ControllerPlan,
  server: ServerPlace,
  place: ManagerPlace,
  run: (registry: MetricsRegistry, metrics: RequestMetrics) => RunningControllers,
  log: (line: string) => void,
): Promise<BegunControllers> {
  const [{ managerMetrics }, { serveManager }, { delegatedAccess }, { clusterAuthorities }] = await Promise.all([
    import('../controller-manager/metrics.ts'),
    import('../controller-manager/manager-server.ts'),
    import('../component-server/delegated-access.ts'),
    import('../component-server/cluster-authorities.ts'),
  ])
  const { reader, close } = plannedClients({ ...plan, controllers: [] }, server)
  const authorities = clusterAuthorities(reader, log)
  const end = async (): Promise<void> => {
    await authorities.stop()
    close()
  }
  const names = plan.controllers.map(({ name }) => name)
  const { registry, requests } = managerMetrics(() => names)
  let running: RunningControllers | undefined
  const listening = await serveManager({
    ...place,
    portFlag: '--controller-manager-port',
    access: delegatedAccess({ authentication: reader, authorization: reader, clientCA: authorities.clientCA, log }),
    running: () => running,
    checks: [],
    metrics: () => registry.render(),
    configuration: { Generic: { Controllers: names }, Flags: plan.flags },
  }).catch(async (error) => {
    await end()
    throw error
  })
  running = run(registry, requests)
  const { synced, stop } = running
  log(`controllers tell of themselves on ${place.bindAddress}:${listening.port}`)
  return {
    synced,
    async stop() {
      await Promise.all([stop(), listening.stop(graceMs)])
      await end()
    },
  }
}
