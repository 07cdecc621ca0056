/** Collects the rules of cluster roles with an `aggregationRule` from the roles that its selectors match. */
import { type Caches, type Controller, watch } from '../../client/controller/controller.ts'
import { type ClusterRole, clusterRoles } from '../../client/kinds.ts'
import { jsonEqual } from '../../machinery/fields/json.ts'
import { labelSelectorOf } from '../../machinery/selectors/label-selector.ts'

type Rule = NonNullable<ClusterRole['rules']>[number]

export const clusterRoleAggregation: Controller = {
  name: 'clusterrole-aggregation-controller',
  // A change of any role may affect any aggregated role.
  watches: [watch({ resource: clusterRoles, keys: (_role, caches) => aggregates(caches) })],
  async reconcile(name, { caches, client }) {
    const role = caches.get(clusterRoles, '', name)
    if (!role?.aggregationRule) return
    const rules = aggregatedRules(role, caches.all(clusterRoles))
    if (jsonEqual(rules, role.rules ?? [])) return
    // The uid prevents apply from recreating a role that was deleted meanwhile.
    await client.apply(
      clusterRoles,
      { apiVersion: role.apiVersion, kind: role.kind, metadata: { name, uid: role.metadata.uid }, rules },
      'clusterrole-aggregation-controller',
    )
  },
}

function* aggregates(caches: Caches): Generator<string> {
  for (const { metadata, aggregationRule } of caches.all(clusterRoles)) if (aggregationRule) yield metadata.name ?? ''
}

/** Returns the rules of all other roles that the selectors match, ordered by name, without duplicates. */
export function aggregatedRules({ metadata, aggregationRule }: ClusterRole, roles: Iterable<ClusterRole>): Rule[] {
  const selectors = aggregationRule?.clusterRoleSelectors ?? []
  const chosen = new Map<string, ClusterRole>()
  const others = [...roles].filter((role) => role.metadata.name !== metadata.name).sort(byName)
  for (const selector of selectors) {
    const selected = labelSelectorOf(selector)
    for (const role of others)
      if (selected.matches(role.metadata.labels ?? {})) chosen.set(role.metadata.name ?? '', role)
  }
  const rules: Rule[] = []
  for (const role of chosen.values()) {
    for (const rule of role.rules ?? []) if (!rules.some((known) => jsonEqual(known, rule))) rules.push(rule)
  }
  return rules
}

const byName = (a: ClusterRole, b: ClusterRole): number => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1)
