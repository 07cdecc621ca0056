/** Simulated nodes: nodes and pods as kubelets would write them, by the thousand, and nothing runs. */

export { fleetConfigMap } from './names.ts'
export { failures, isFailure } from './nodes/conditions.ts'
export { mostNodes, type WantedFleet } from './nodes/fleet.ts'
export type { NodeGroup, NodeShape } from './nodes/node-shape.ts'
export { type RunningSimulation, runSimulation, type SimulationOptions } from './simulation.ts'
