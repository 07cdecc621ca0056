/** The messages between the serving thread and the simulation's thread. */
import type { SimulationOptions } from '../../simulation/index.ts'
import type { ComponentReport } from '../threads/component-thread.ts'

/** User name of the simulation. */
export const simulationUser = 'system:simulated-nodes'

/** The server's URL and authority, and the token of the simulation. */
export interface SimulationServer {
  readonly url: string
  readonly ca: string
  readonly token: string
}

/** Everything that a thread needs to simulate nodes, as plain data. */
export interface SimulationTask {
  readonly options: Omit<SimulationOptions, 'clock'>
  readonly server: SimulationServer
  /** The memory of the cluster's clock. */
  readonly clockBuffer: SharedArrayBuffer
}

/** From the thread. */
export type Report = ComponentReport | { readonly failed: string }
