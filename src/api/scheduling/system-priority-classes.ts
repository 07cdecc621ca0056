/** The priority classes of pods without which a cluster or a node does not work: every cluster has them. */
export interface SystemPriorityClass {
  readonly name: string
  readonly value: number
  readonly description: string
}

/** They alone are above what users may define. */
export const systemPriorityClasses: readonly SystemPriorityClass[] = [
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
]
