/** The priority classes of critical system pods, which every cluster has. */
export interface SystemPriorityClass {
  readonly name: string
  readonly value: number
  readonly description: string
}

/** Their values are above the maximum of user-defined classes. */
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
