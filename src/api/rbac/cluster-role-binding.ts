/** ClusterRoleBindings: grant a ClusterRole in the whole cluster. */
import { pathSegment } from '../../machinery/validation/names.ts'
import { resource } from '../resource.ts'
import { type Binding, bindingColumns, bindingDefaults, bindingRules, rbacGroup, roleRefUnchanged } from './rules.ts'

export const clusterRoleBindings = resource<Binding>({
  group: rbacGroup,
  version: 'v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  scope: 'Cluster',
  nameRule: pathSegment,
  createOnUpdate: true,
  defaults: [bindingDefaults],
  validate: { object: (binding) => bindingRules(binding, false), update: roleRefUnchanged },
  columns: bindingColumns,
})
