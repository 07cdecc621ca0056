/** Runs the controllers of a cluster in this thread, and optionally their HTTPS port. */
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
import type { Claims, ControllerTask, ManagerEndpoint, ServerEndpoint } from './messages.ts'

/** Running controllers. */
export interface StartedControllers {
  /** Resolves when all informers have synced. */
  readonly synced: Promise<void>
  /** Returns what is wrong with their thread; undefined if it is healthy. */
  readonly check?: () => Promise<string | undefined>
  /** Resolves when running work is done. */
  stop(): Promise<void>
}

/** Resolves when they have started. Rejects with an ExplainedError if the port of `manager` is not available. */
export async function runTask(
  { plan, server, authority, manager }: ControllerTask,
  signToken: (claims: Claims) => Promise<string>,
  log: (line: string) => void,
): Promise<StartedControllers> {
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
  return manager ? runWithServer(plan, server, manager, run, log) : run()
}

const graceMs = 1_000

async function runWithServer(
  plan: ControllerPlan,
  server: ServerEndpoint,
  endpoint: ManagerEndpoint,
  run: (registry: MetricsRegistry, metrics: RequestMetrics) => RunningControllers,
  log: (line: string) => void,
): Promise<StartedControllers> {
  const [{ managerMetrics }, { serveManager }, { DelegatedAccess }, { clusterAuthorities }] = await Promise.all([
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
    ...endpoint,
    portFlag: '--controller-manager-port',
    access: new DelegatedAccess({ authentication: reader, authorization: reader, clientCA: authorities.clientCA, log }),
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
  log(`controllers serve health and metrics on ${endpoint.bindAddress}:${listening.port}`)
  return {
    synced,
    async stop() {
      await Promise.all([stop(), listening.stop(graceMs)])
      await end()
    },
  }
}
