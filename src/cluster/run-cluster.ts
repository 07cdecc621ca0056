/** Runs a cluster: store, certificates, API server, compaction, controllers. A thread may run many. */
import { defaultServiceRange } from '../apiserver/services/ranges/address-range.ts'
import { MovableClock } from '../lib/clock/movable-clock.ts'
import { type Started, startComponents } from '../lib/lifetime/components.ts'
import { Lifetime } from '../lib/lifetime/lifetime.ts'
import { serviceRangeOf } from './addresses/service-range.ts'
import { type ClockOrder, clusterClock, moveClock } from './clock/cluster-clock.ts'
import { fixedClockReason } from './clock/fixed-clock.ts'
import type { Cluster, ClusterOptions } from './cluster-options.ts'
import type { ClusterParts } from './components/component.ts'
import { clusterComponents } from './components/index.ts'
import { clusterUser } from './credentials/cluster-users.ts'
import { dataDirectory, dataDirectoryPaths } from './data-directory.ts'
import { etcdPlan } from './etcd/etcd-plan.ts'
import { optionsFromFlags } from './options/cluster-flags.ts'
import type { NodeDecision } from './real-node/checks/decision.ts'
import type { NodeRunner } from './real-node/thread/node-runner.ts'
import { checkScheduler } from './scheduler/index.ts'

const defaultGraceMs = 5000
/** From this verbosity on, the duration of each step is logged. */
const timingVerbosity = 2

/** A cluster of this thread. */
export interface RunningCluster extends Cluster {
  /** The state of its clock, from which other threads read the time. */
  readonly clockMemory: SharedArrayBuffer
  /** Moves its clock. */
  order(order: ClockOrder): Promise<void>
}

/**
 * Starts a cluster on this thread and resolves when it is ready. Rejects with an ExplainedError if the user can fix the
 * problem. Options are not checked, and messages speak of the flags of `t8s up`. A thread of the real node that has
 * started already (`early`) is stopped with the cluster.
 */
export async function runCluster(options: ClusterOptions, early?: NodeRunner): Promise<RunningCluster> {
  const { log = () => {}, verbosity = 0 } = options
  const { bindAddress = '127.0.0.1', serviceClusterIpRange } = options
  const started: Started = (name, ms) => {
    if (verbosity >= timingVerbosity) log(`${name} started in ${Math.round(ms)} ms`)
  }
  const lifetime = new Lifetime()
  try {
    const nodeDecision = await decidedNode(options, early)
    if (nodeDecision?.type === 'real') lifetime.onEnd(() => nodeDecision.runner.stop())
    const directory = directoryOf(options)
    const data = directory === undefined ? undefined : dataDirectory(directory)
    const serviceRanges = data
      ? serviceRangeOf(data, serviceClusterIpRange, wantsNodes(options))
      : (serviceClusterIpRange ?? defaultServiceRange)
    const { serving: flagged, etcd: flaggedEtcd } = await optionsFromFlags(options, data?.path)
    const etcd = etcdPlan(options, flaggedEtcd)
    if (typeof options.scheduler === 'object') await checkScheduler(options.scheduler)
    const { promise: synced, resolve } = Promise.withResolvers<void>()
    const addresses = { bindAddress, serviceRanges }
    const clock = new MovableClock()
    lifetime.onEnd(() => clock.stop())
    const given = { options, addresses, log, clock, data, etcd, flagged, nodeDecision, synced }
    const parts = await startComponents<ClusterParts>(clusterComponents, given, lifetime, started)
    const cluster = clusterOf(parts, lifetime)
    void cluster.synced.then(resolve)
    return cluster
  } catch (error) {
    await lifetime.end()
    throw error
  }
}

/** Undefined for a cluster without files. */
const directoryOf = ({ storage }: ClusterOptions): string | undefined =>
  typeof storage === 'object' ? storage.directory : undefined

function wantsNodes({ nodes = 0 }: ClusterOptions): boolean {
  return typeof nodes === 'object'
    ? nodes.real !== undefined || nodes.machines !== undefined || nodes.count !== 0
    : nodes !== 0
}

/** Loads nothing without a real node. Rejects with an ExplainedError if this machine cannot be the wanted one. */
async function decidedNode(options: ClusterOptions, early: NodeRunner | undefined): Promise<NodeDecision | undefined> {
  const { nodes, controllersThread: onThread = false, log = () => {} } = options
  const { real, machines } = typeof nodes === 'object' ? nodes : {}
  const directory = directoryOf(options)
  if (machines !== undefined) {
    const { planMachines } = await import('./machines/plan-machines.ts')
    const folder = directory === undefined ? undefined : dataDirectoryPaths(directory).node
    return { type: 'machines', plan: await planMachines(machines, typeof real === 'object' ? real : {}, folder, log) }
  }
  if (!real) return undefined
  const data = directory === undefined ? undefined : dataDirectoryPaths(directory)
  const [{ decideNodeType, earlyRunner }, { runnerOnThisThread }] = await Promise.all([
    import('./real-node/checks/decision.ts'),
    import('./real-node/thread/node-runner.ts'),
  ])
  const given = real === true ? {} : real
  const runner = early ?? (onThread && data ? earlyRunner(given, log) : runnerOnThisThread(log))
  return decideNodeType({ options: given, folder: data?.node, runner, log })
}

function clusterOf(parts: ClusterParts, lifetime: Lifetime): RunningCluster {
  const { clock, server, endpoint, pki, administrator, controllers, scheduler, registered, simulated, ingressServed } =
    parts
  const order = (order: ClockOrder) => moveClock(server.clock, fixedClockReason(parts), order)
  let stopped: Promise<void> | undefined
  function stop({ graceMs = defaultGraceMs } = {}): Promise<void> {
    stopped ??= lifetime.end(graceMs)
    return stopped
  }
  return {
    url: endpoint.url,
    port: server.port,
    ...administrator,
    clockMemory: clock.memory.buffer,
    clock: clusterClock(clock, order),
    order,
    synced: Promise.all([controllers.synced, scheduler?.synced, registered, simulated, ingressServed]).then(() => {}),
    user: (identity) => clusterUser(pki.authority, identity, endpoint),
    stop,
    [Symbol.asyncDispose]: () => stop(),
  }
}
