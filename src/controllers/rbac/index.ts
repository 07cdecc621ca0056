/** Roles that are made of others. */
import type { ControllerDescriptor } from '../descriptor.ts'
import { clusterRoleAggregation } from './cluster-role-aggregation.ts'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'clusterrole-aggregation-controller',
    aliases: ['clusterrole-aggregation'],
    account: 'clusterrole-aggregation-controller',
    make: () => clusterRoleAggregation,
  },
]
