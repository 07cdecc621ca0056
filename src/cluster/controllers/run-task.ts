/** Runs the controllers of a cluster in this thread, and optionally their HTTPS port. */
import { FeatureGates } from '../../api/features/feature-gates.ts'
import type { RequestMetrics } from '../../client/connection/request-metrics.ts'
import { leaderMetrics } from '../../client/election/leader-metrics.ts'
import { managerAgent, plannedClients, type RunningControllers, runControllers } from '../../controllers/index.ts'
import type { Clock } from '../../lib/clock/clock.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { certificateSigner } from '../pki/certificate-signer.ts'
import { type ElectedComponent, runElected } from '../threads/elected.ts'
import type { Claims, ControllerSettings, ManagerEndpoint } from './messages.ts'

/** Running controllers. */
export interface StartedControllers {
  /** Resolves when all informers have synced, or when another process runs the controllers. */
  readonly synced: Promise<void>
  /** Returns what is wrong with their thread; undefined if it is healthy. */
  readonly check?: () => Promise<string | undefined>
  /** Resolves when running work is done. */
  stop(): Promise<void>
}

/** Starts the controllers with clients of their own. */
type Start = (registry?: MetricsRegistry, metrics?: RequestMetrics) => RunningControllers & { abandon(): void }

const lease = { namespace: 'kube-system', name: managerAgent }
const graceMs = 1_000

/** Resolves when they have started. Rejects with an ExplainedError if the port of `manager` is not available. */
export async function runTask(
  task: ControllerSettings,
  clock: Clock,
  signToken: (claims: Claims) => Promise<string>,
  log: (line: string) => void,
): Promise<StartedControllers> {
  const { plan, server, authority, manager } = task
  const start: Start = (registry, metrics) => {
    const clients = plannedClients(plan, { ...server, metrics })
    const running = runControllers({
      chosen: plan.controllers.map(({ name }) => name),
      flags: plan.flags,
      features: new FeatureGates(plan.features),
      sources: { rootCA: server.ca, signer: certificateSigner(authority), signToken },
      clients,
      clock,
      registry,
      log,
    })
    return { ...running, abandon: () => clients.close() }
  }
  return manager ? runWithServer(task, manager, start, log) : run(task, () => start(), log)
}

/** Runs the controllers always, or in the terms in which this process leads. */
function run(
  { plan, server, isElected }: ControllerSettings,
  start: () => ReturnType<Start>,
  log: (line: string) => void,
): StartedControllers & Partial<ElectedComponent> {
  // Without controllers it would lead for nothing.
  if (!isElected || plan.controllers.length === 0) return start()
  const { reader, close } = plannedClients({ ...plan, controllers: [] }, server)
  const elected = runElected({
    ...lease,
    client: reader,
    component: managerAgent,
    start() {
      const running = start()
      return {
        synced: running.synced,
        stop(isLost) {
          if (isLost) running.abandon()
          return running.stop()
        },
      }
    },
    log,
  })
  return {
    synced: elected.synced,
    get isLeader() {
      return elected.isLeader
    },
    stop: () => elected.stop().finally(close),
  }
}

async function runWithServer(
  task: ControllerSettings,
  endpoint: ManagerEndpoint,
  start: Start,
  log: (line: string) => void,
): Promise<StartedControllers> {
  const { plan, server, isElected } = task
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
  let leading: RunningControllers | undefined
  let controllers: ReturnType<typeof run> | undefined
  // Of one term: the controllers of the next one register theirs again.
  let metrics = metricsOfTerm()
  function metricsOfTerm(): ReturnType<typeof managerMetrics> {
    const made = managerMetrics(() => leading?.names ?? [])
    if (isElected) leaderMetrics(made.registry, lease.name, () => controllers?.isLeader ?? false)
    return made
  }
  const listening = await serveManager({
    ...endpoint,
    portFlag: '--controller-manager-port',
    access: new DelegatedAccess({ authentication: reader, authorization: reader, clientCA: authorities.clientCA, log }),
    running: () => leading,
    checks: [],
    metrics: () => metrics.registry.render(),
    configuration: { Generic: { Controllers: names }, Flags: plan.flags },
  }).catch(async (error) => {
    await end()
    throw error
  })
  const startTerm = (): ReturnType<Start> => {
    metrics = metricsOfTerm()
    const running = start(metrics.registry, metrics.requests)
    leading = running
    return { ...running, stop: () => running.stop().finally(() => (leading = undefined)) }
  }
  const started = run(task, startTerm, log)
  controllers = started
  log(`controllers serve health and metrics on ${endpoint.bindAddress}:${listening.port}`)
  return {
    synced: started.synced,
    async stop() {
      await Promise.all([started.stop(), listening.stop(graceMs)])
      await end()
    },
  }
}
