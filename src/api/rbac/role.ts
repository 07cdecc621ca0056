/** Roles: permissions in one namespace. */
import type { V1Role } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { pathSegment } from '../../machinery/validation/names.ts'
import { nullEmptyLists } from '../nulls.ts'
import { resource } from '../resource.ts'
import { policyRules, rbacGroup } from './rules.ts'

export const roles = resource<Model<V1Role>>({
  group: rbacGroup,
  version: 'v1',
  kind: 'Role',
  plural: 'roles',
  scope: 'Namespaced',
  nameRule: pathSegment,
  createOnUpdate: true,
  validate: { object: ({ rules }) => policyRules(rules, true) },
  prepare: { create: nullEmptyLists('rules'), update: nullEmptyLists('rules') },
})
