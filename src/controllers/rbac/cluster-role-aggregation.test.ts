import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aggregatedRules } from './cluster-role-aggregation.ts'

type Role = Parameters<typeof aggregatedRules>[0]
type Rule = NonNullable<Role['rules']>[number]

const rule = (...resources: string[]): Rule => ({ apiGroups: [''], resources, verbs: ['get'] })

const role = (name: string, labels: Record<string, string>, rules: Rule[], selectors?: object[]): Role => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name, labels },
  rules,
  ...(selectors && { aggregationRule: { clusterRoleSelectors: selectors } }),
})

const resources = (rules: readonly Rule[]) => rules.map((rule) => rule.resources?.join())

test('aggregated rules are ordered by role name, without duplicates', () => {
  const all = role('all', {}, [], [{ matchLabels: { x: 'y' } }])
  const roles = [
    role('b', { x: 'y' }, [rule('secrets'), rule('pods')]),
    role('a', { x: 'y' }, [rule('secrets')]),
    role('c', { x: 'z' }, [rule('nodes')]),
    all,
  ]
  assert.deepEqual(resources(aggregatedRules(all, roles)), ['secrets', 'pods'])
})

test('a role does not aggregate itself', () => {
  const all = role('all', { x: 'y' }, [rule('nodes')], [{ matchLabels: { x: 'y' } }])
  assert.deepEqual(aggregatedRules(all, [all]), [])
})

test('any selector may match, and matches of the first selector come first', () => {
  const all = role(
    'all',
    {},
    [],
    [{ matchExpressions: [{ key: 'tier', operator: 'Exists' }] }, { matchLabels: { x: 'y' } }],
  )
  const roles = [role('a', { x: 'y' }, [rule('pods')]), role('b', { tier: '1' }, [rule('secrets')])]
  assert.deepEqual(resources(aggregatedRules(all, roles)), ['secrets', 'pods'])
})
