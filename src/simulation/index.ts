/** Simulated nodes: nodes and pods as kubelets would write them, by the thousand, and nothing runs. */

export { failureAnnotation, fleetConfigMapOf, fleetSizeKey, nodeLabel, ownerLabel, upOwner } from './names.ts'
export { parseNodeConfig } from './nodes/node-config.ts'
export { type NodeGroup, usualGroup } from './nodes/node-shape.ts'
export { type RunningSimulation, runSimulation, type SimulationOptions } from './simulation.ts'
export { parseStages } from './stages/stage.ts'
