/** The controllers, the scheduler and the nodes that the options ask for. Nothing of them runs yet. */
import type { TokenUser } from '../../apiserver/server.ts'
import { checkControllerFlags, planControllers } from '../../controllers/index.ts'
import type { ClusterOptions, ClusterSchedulerChoice } from '../cluster-options.ts'
import { hostPathStorage } from '../host-path-storage.ts'
import { schedulerUser } from '../scheduler/index.ts'
import { clusterSimulation, type SimulatedNodes } from '../simulation/index.ts'
import { component } from './component.ts'

export interface SchedulerPlan {
  readonly choice: ClusterSchedulerChoice
  /** The user of the scheduler, which the server must accept. */
  readonly user: TokenUser
}

/** Includes the controllers of bootstrap tokens, as kubeadm does, since the API server accepts these tokens. */
const clusterChoice: readonly string[] = ['*', 'bootstrap-signer-controller', 'token-cleaner-controller']

export const plan = component({
  name: 'plan',
  needs: ['options', 'data', 'flagged', 'log'],
  gives: ['plan', 'schedulerPlan', 'simulation', 'hostPaths'],
  start({ options, data, flagged, log }, lifetime) {
    const nodes = nodesOf(options)
    const simulation = clusterSimulation({
      nodes,
      mayHaveNodes: data !== undefined,
      onThread: options.controllersThread ?? false,
      log,
    })
    const hostPaths = hostPathStorage({ ...simulation.controllerFlags, ...options.controllerFlags }, data)
    lifetime.onEnd(() => hostPaths.end())
    checkControllerFlags(hostPaths.flags)
    const features = flagged.features?.settings
    const plan = planControllers({ chosen: chosenOf(options), flags: hostPaths.flags, features })
    const scheduler = options.scheduler ?? (nodes !== undefined && nodes.count !== 0)
    const schedulerPlan = scheduler
      ? { choice: typeof scheduler === 'object' ? scheduler : {}, user: schedulerUser() }
      : undefined
    return { plan, schedulerPlan, simulation, hostPaths }
  },
})

/** Returns the names of the controllers to run. */
function chosenOf({ controllers = true }: ClusterOptions): readonly string[] {
  if (typeof controllers !== 'boolean') return controllers
  return controllers ? clusterChoice : []
}

/** A number is short for that many default nodes. */
const nodesOf = ({ nodes }: ClusterOptions): SimulatedNodes | undefined =>
  typeof nodes === 'number' ? { count: nodes } : nodes
