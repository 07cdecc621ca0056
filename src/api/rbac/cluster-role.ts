/**
 * ClusterRoles: permissions that can be granted in a namespace or the whole cluster, and may be aggregated from other
 * ClusterRoles.
 */

import type { V1ClusterRole } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { validateLabelSelector } from '../../machinery/selectors/label-selector.ts'
import { type FieldError, required } from '../../machinery/validation/field-error.ts'
import { all } from '../../machinery/validation/field-rules.ts'
import { pathSegment } from '../../machinery/validation/names.ts'
import { nullEmptyLists } from '../nulls.ts'
import { resource } from '../resource.ts'
import { policyRules, rbacGroup } from './rules.ts'

type ClusterRole = Model<V1ClusterRole>

export const clusterRoles = resource<ClusterRole>({
  group: rbacGroup,
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  scope: 'Cluster',
  nameRule: pathSegment,
  createOnUpdate: true,
  prepare: { create: nullEmptyLists('rules'), update: nullEmptyLists('rules') },
  validate: { object: clusterRoleRules },
})

function clusterRoleRules({ rules, aggregationRule }: ClusterRole): readonly FieldError[] {
  const path = 'aggregationRule.clusterRoleSelectors'
  const selectors = aggregationRule?.clusterRoleSelectors ?? []
  return all(
    policyRules(rules, false),
    aggregationRule && selectors.length === 0
      ? [required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil')]
      : [],
    selectors.flatMap((selector, at) => validateLabelSelector(selector, `${path}[${at}]`)),
  )
}
