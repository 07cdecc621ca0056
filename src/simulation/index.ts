/** Simulated nodes: nodes and pods as kubelets would write them, by the thousand, and nothing runs. */

export { fleetConfigMap } from './names.ts'
export { failures, isFailure } from './nodes/conditions.ts'
export type { WantedFleet } from './nodes/fleet.ts'
export { parseNodeConfig } from './nodes/node-config.ts'
export { type NodeGroup, type NodeShape, usualGroup } from './nodes/node-shape.ts'
export { type RunningSimulation, runSimulation, type SimulationOptions } from './simulation.ts'
