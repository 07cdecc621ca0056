/** The controllers, the scheduler and the nodes that the options ask for. Nothing of them runs yet. */
import type { TokenUser } from '../../apiserver/server.ts'
import { checkControllerFlags, planControllers } from '../../controllers/index.ts'
import { parseCidr } from '../../lib/cidr.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import { loopbackPool, poolFlag, withLoadBalancers } from '../addresses/load-balancer-pool.ts'
import type { ClusterOptions, ClusterSchedulerChoice } from '../cluster-options.ts'
import { clusterIngress } from '../ingress/index.ts'
import { type NodeDecision, simulatedLine } from '../real-node/checks/decision.ts'
import type { ClusterRealNode } from '../real-node/index.ts'
import { schedulerUser } from '../scheduler/index.ts'
import { clusterSimulation, type SimulatedNodes } from '../simulation/index.ts'
import { hostPathStorage } from '../volumes/host-path-storage.ts'
import { type ClusterParts, component } from './component.ts'
import { isJoinable, podNetwork } from './joining.ts'

export interface SchedulerPlan {
  readonly choice: ClusterSchedulerChoice
  /** The user of the scheduler, which the server must accept. */
  readonly user: TokenUser
}

/** The ranges of pods by their family, enough for 32,768 nodes. That of IPv6 is local (RFC 4193). */
const clusterRanges = { 4: '10.128.0.0/9', 6: 'fd8c:5be2:a1d0::/48' } as const
/** Flags that decide about ranges of nodes. */
const rangeFlags = ['allocate-node-cidrs', 'cluster-cidr', 'node-cidr-mask-size', 'node-cidr-mask-size-ipv4']
/** Flags of controllers that a cluster with nodes needs. */
const nodeFlags = (podRanges: readonly string[]) => ({
  'allocate-node-cidrs': 'true',
  'cluster-cidr': podRanges.join(),
  'enable-hostpath-provisioner': 'true',
})

/** The ranges of pods: of both families if Services have both, in the order of their ranges, and else of IPv4. */
function podRangesOf(serviceRanges: string): readonly string[] {
  const families = serviceRanges.split(',').map((range) => parseCidr(range.trim())?.family ?? 4)
  return new Set(families).size === 2 ? families.map((family) => clusterRanges[family]) : [clusterRanges[4]]
}

/** The ranges of which the controllers give a part to each node. */
function allocatedRanges(flags: Readonly<Record<string, string>>, serviceRanges: string): readonly string[] {
  if (flags['allocate-node-cidrs'] === 'false') return []
  return flags['cluster-cidr']?.split(',').map((range) => range.trim()) ?? podRangesOf(serviceRanges)
}

/** Includes the controllers of bootstrap tokens, as kubeadm does, since the API server accepts these tokens. */
const clusterChoice: readonly string[] = ['*', 'bootstrap-signer-controller', 'token-cleaner-controller']

export const plan = component({
  name: 'plan',
  needs: ['options', 'addresses', 'data', 'etcd', 'flagged', 'nodeDecision', 'clock', 'log'],
  gives: ['plan', 'schedulerPlan', 'simulation', 'realNode', 'hostPaths', 'ingress'],
  async start({ options, addresses, data, etcd, flagged, nodeDecision, clock, log }, lifetime) {
    const nodes = nodesOf(options, nodeDecision)
    const onThread = options.controllersThread ?? false
    const realNode = await realNodeOf({ options, addresses, data, nodeDecision, log })
    const simulation = clusterSimulation({
      nodes,
      // Those in an etcd may be the nodes of another process.
      mayHaveNodes: data !== undefined && etcd === undefined,
      isElected: etcd !== undefined,
      onThread,
      clock,
      log,
    })
    const hasNodes = realNode !== undefined || (nodes !== undefined && nodes.count !== 0)
    const flagsOfNodes = hasNodes ? nodeFlags(podRangesOf(addresses.serviceRanges)) : {}
    const pools: Readonly<Record<string, string>> =
      realNode?.servesServices && !realNode.isElsewhere && data ? { [poolFlag]: loopbackPool(data.node) } : {}
    const hostPaths = hostPathStorage({ ...flagsOfNodes, ...pools, ...options.controllerFlags }, data)
    lifetime.onEnd(() => hostPaths.end())
    checkControllerFlags(hostPaths.flags)
    const features = flagged.features?.settings
    const chosen = withLoadBalancers(chosenOf(options), hostPaths.flags[poolFlag])
    const plan = planControllers({ chosen, flags: hostPaths.flags, features })
    const scheduler = options.scheduler ?? hasNodes
    const schedulerPlan = scheduler
      ? { choice: typeof scheduler === 'object' ? scheduler : {}, user: schedulerUser() }
      : undefined
    const wanted = options.ingress === true ? {} : options.ingress
    const ingress = clusterIngress({ ingress: wanted || undefined, onThread, log })
    return { plan, schedulerPlan, simulation, realNode, hostPaths, ingress }
  },
})

/** Returns the names of the controllers to run. */
function chosenOf({ controllers = true }: ClusterOptions): readonly string[] {
  if (typeof controllers !== 'boolean') return controllers
  return controllers ? clusterChoice : []
}

/**
 * The real node; undefined, after a line in the log, for a cluster with a simulated one in its place. Other clusters
 * load nothing of it.
 */
async function realNodeOf(
  parts: Pick<ClusterParts, 'options' | 'addresses' | 'data' | 'nodeDecision' | 'log'>,
): Promise<ClusterRealNode | undefined> {
  const { data, nodeDecision, log } = parts
  const { nodes, controllerFlags = {} } = parts.options
  const { bindAddress, serviceRanges } = parts.addresses
  if (!data || !nodeDecision) return undefined
  if (nodeDecision.type === 'simulated') {
    log(simulatedLine(nodeDecision.reason))
    return undefined
  }
  // Ranges of other sizes are chosen by the controller.
  const podClusters = rangeFlags.some((flag) => Object.hasOwn(controllerFlags, flag)) ? [] : podRangesOf(serviceRanges)
  const network = podNetwork(parts, allocatedRanges(controllerFlags, serviceRanges))
  if (nodeDecision.type === 'machines') {
    const { clusterMachines } = await import('../machines/cluster-machines.ts')
    return clusterMachines({ plan: nodeDecision.plan, bindAddress, serviceRanges, podClusters, network, log })
  }
  const real = typeof nodes === 'object' && typeof nodes.real === 'object' ? nodes.real : {}
  if (real.networkBackend !== undefined && !isJoinable(parts))
    throw new ExplainedError(
      '--network-backend connects the pods of several nodes, and this cluster has one: open it for other machines ' +
        'with --bind-address 0.0.0.0, or start some with --machines 2',
    )
  const { clusterRealNode } = await import('../real-node/index.ts')
  return clusterRealNode({
    node: nodeDecision.node,
    folder: data.node,
    bindAddress,
    serviceRanges,
    podClusters,
    network,
    isReplaceable: real.fallback !== undefined,
    runner: nodeDecision.runner,
    log,
  })
}

/**
 * A number is short for that many default nodes. Beside a real node there are none by default, and in its place at
 * least one.
 */
function nodesOf({ nodes }: ClusterOptions, decision: NodeDecision | undefined): SimulatedNodes | undefined {
  if (typeof nodes !== 'object') return nodes === undefined ? undefined : { count: nodes }
  const { real: _, machines: _machines, ...simulated } = nodes
  if (decision?.type === 'simulated') return { ...simulated, atLeast: 1 }
  return decision && !simulated.groups ? { ...simulated, count: simulated.count ?? 0 } : simulated
}
