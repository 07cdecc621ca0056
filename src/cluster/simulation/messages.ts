/** What the serving thread and the simulation's thread say to each other. */
import type { SimulationOptions } from '../../simulation/index.ts'
import type { ComponentReport } from '../threads/component-thread.ts'

/** Who simulated nodes are to the server. */
export const simulationUser = 'system:simulated-nodes'

/** Where the server is, and the token by which the simulation is known to it. */
export interface SimulationPlace {
  readonly url: string
  readonly ca: string
  readonly token: string
}

/** All that a thread needs to simulate nodes: plain data. */
export interface SimulationTask {
  readonly options: SimulationOptions
  readonly server: SimulationPlace
}

/** From the thread. */
export type Report = ComponentReport | { readonly failed: string }
