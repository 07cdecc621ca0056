/** The types of nodes: a pod chooses one by a node selector (docs/decisions/0060-two-types-of-nodes.md). */

/** A label of nodes: `real` or `simulated`. */
export const nodeTypeLabel = 't8s.dev/node-type'
export const realNode = 'real'
export const simulatedNode = 'simulated'

/** Simulated nodes have it while the cluster has real ones, so that pods without a choice run for real. */
export const simulatedTaint = { key: nodeTypeLabel, value: simulatedNode, effect: 'PreferNoSchedule' } as const
