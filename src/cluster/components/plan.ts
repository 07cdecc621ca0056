/** The controllers, the scheduler and the nodes that the options ask for. Nothing of them runs yet. */
import type { TokenUser } from '../../apiserver/server.ts'
import { checkControllerFlags, planControllers } from '../../controllers/index.ts'
import type { ClusterOptions, ClusterSchedulerChoice } from '../cluster-options.ts'
import { hostPathStorage } from '../host-path-storage.ts'
import { clusterRealNode } from '../real-node/index.ts'
import { schedulerUser } from '../scheduler/index.ts'
import { clusterSimulation, type SimulatedNodes } from '../simulation/index.ts'
import { component } from './component.ts'

export interface SchedulerPlan {
  readonly choice: ClusterSchedulerChoice
  /** The user of the scheduler, which the server must accept. */
  readonly user: TokenUser
}

/** Enough for 32,768 nodes. */
const clusterRange = '10.128.0.0/9'
/** Flags of controllers that a cluster with nodes needs. */
const nodeFlags = { 'allocate-node-cidrs': 'true', 'cluster-cidr': clusterRange, 'enable-hostpath-provisioner': 'true' }

/** Includes the controllers of bootstrap tokens, as kubeadm does, since the API server accepts these tokens. */
const clusterChoice: readonly string[] = ['*', 'bootstrap-signer-controller', 'token-cleaner-controller']

export const plan = component({
  name: 'plan',
  needs: ['options', 'data', 'flagged', 'checkedNode', 'log'],
  gives: ['plan', 'schedulerPlan', 'simulation', 'realNode', 'hostPaths'],
  start({ options, data, flagged, checkedNode, log }, lifetime) {
    const nodes = nodesOf(options)
    const onThread = options.controllersThread ?? false
    const realNode = data && checkedNode && clusterRealNode({ node: checkedNode, folder: data.node, onThread, log })
    const simulation = clusterSimulation({
      nodes,
      mayHaveNodes: data !== undefined,
      onThread,
      log,
    })
    const hasNodes = realNode !== undefined || (nodes !== undefined && nodes.count !== 0)
    const flagsOfNodes = hasNodes ? nodeFlags : {}
    const hostPaths = hostPathStorage({ ...flagsOfNodes, ...options.controllerFlags }, data)
    lifetime.onEnd(() => hostPaths.end())
    checkControllerFlags(hostPaths.flags)
    const features = flagged.features?.settings
    const plan = planControllers({ chosen: chosenOf(options), flags: hostPaths.flags, features })
    const scheduler = options.scheduler ?? hasNodes
    const schedulerPlan = scheduler
      ? { choice: typeof scheduler === 'object' ? scheduler : {}, user: schedulerUser() }
      : undefined
    return { plan, schedulerPlan, simulation, realNode, hostPaths }
  },
})

/** Returns the names of the controllers to run. */
function chosenOf({ controllers = true }: ClusterOptions): readonly string[] {
  if (typeof controllers !== 'boolean') return controllers
  return controllers ? clusterChoice : []
}

/** A number is short for that many default nodes. Beside a real node there are none by default. */
function nodesOf({ nodes }: ClusterOptions): SimulatedNodes | undefined {
  if (typeof nodes !== 'object') return nodes === undefined ? undefined : { count: nodes }
  const { real, ...simulated } = nodes
  return real && !simulated.groups ? { ...simulated, count: simulated.count ?? 0 } : simulated
}
