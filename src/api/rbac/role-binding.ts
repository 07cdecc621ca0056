/** RoleBindings: grant a role in one namespace. */
import { pathSegment } from '../../machinery/validation/names.ts'
import { resource } from '../resource.ts'
import { type Binding, bindingColumns, bindingDefaults, bindingRules, rbacGroup, roleRefUnchanged } from './rules.ts'

export const roleBindings = resource<Binding>({
  group: rbacGroup,
  version: 'v1',
  kind: 'RoleBinding',
  plural: 'rolebindings',
  scope: 'Namespaced',
  nameRule: pathSegment,
  createOnUpdate: true,
  defaults: [bindingDefaults],
  validate: { object: (binding) => bindingRules(binding, true), update: roleRefUnchanged },
  columns: bindingColumns,
})
