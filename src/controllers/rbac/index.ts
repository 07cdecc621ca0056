/** Aggregation of cluster roles. */
import type { ControllerDescriptor } from '../descriptor.ts'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'clusterrole-aggregation-controller',
    queue: 'ClusterRoleAggregator',
    aliases: ['clusterrole-aggregation'],
    account: 'clusterrole-aggregation-controller',
    make: async () => (await import('./cluster-role-aggregation.ts')).clusterRoleAggregation,
  },
]
