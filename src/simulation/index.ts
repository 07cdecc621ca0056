/** Simulated nodes: writes nodes and pods as kubelets would, by the thousand, without running anything. */

export { failureAnnotation, fleetConfigMapOf, fleetSizeKey, nodeLabel, ownerLabel, upOwner } from './names.ts'
export { parseNodeConfig } from './nodes/node-config.ts'
export { defaultGroup as usualGroup, type NodeGroup } from './nodes/node-shape.ts'
export { type RunningSimulation, runSimulation, type SimulationOptions } from './simulation.ts'
export { parseStages } from './stages/stage.ts'
