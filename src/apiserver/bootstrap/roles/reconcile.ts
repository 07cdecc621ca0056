/**
 * Auto-reconciliation: adds missing parts to bootstrap roles and bindings, including those of later versions of
 * Kubernetes, and retains additions by users
 * (kubernetes.io/docs/reference/access-authn-authz/rbac/#auto-reconciliation).
 */
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { missingRules, type Subject } from '../../authorization/rbac/index.ts'
import { type AggregationRule, autoUpdate, type BindingObject, type RoleObject } from './bootstrap-roles.ts'

/** Undefined if nothing is missing, or auto-update is disabled. */
export function reconciledRole(existing: RoleObject, expected: RoleObject): RoleObject | undefined {
  if (isProtected(existing)) return undefined
  const metadata = reconciledMetadata(existing, expected)
  const rules = existing.rules ?? []
  // A controller sets the rules of an aggregated role.
  const missing =
    expected.aggregationRule || semanticallyEqual(rules, expected.rules)
      ? []
      : missingRules(rules, expected.rules ?? [])
  const { aggregationRule, ...plain } = existing
  const added = missingSelectors(aggregationRule, expected.aggregationRule)
  // An aggregated role that should have rules of its own loses its aggregation rule.
  const losesAggregation = aggregationRule !== undefined && !expected.aggregationRule
  if (!metadata && missing.length === 0 && added.length === 0 && !losesAggregation) return undefined
  return {
    ...(losesAggregation ? plain : existing),
    ...(metadata && { metadata }),
    ...(missing.length > 0 && { rules: [...rules, ...missing] }),
    ...(added.length > 0 && {
      aggregationRule: { clusterRoleSelectors: [...(aggregationRule?.clusterRoleSelectors ?? []), ...added] },
    }),
  }
}

const missingSelectors = (
  { clusterRoleSelectors: has = [] }: AggregationRule = {},
  { clusterRoleSelectors: wanted = [] }: AggregationRule = {},
) => wanted.filter((selector) => !has.some((known) => semanticallyEqual(known, selector)))

/**
 * `replace`: the role of a binding is immutable, so it is recreated, with the expected subjects only: the subjects of
 * the old role must not get another one.
 */
export function reconciledBinding(
  existing: BindingObject,
  expected: BindingObject,
): { readonly object: BindingObject; readonly replace: boolean } | undefined {
  if (isProtected(existing)) return undefined
  if (!semanticallyEqual(existing.roleRef, expected.roleRef)) return { object: expected, replace: true }
  const metadata = reconciledMetadata(existing, expected)
  const subjects = union(existing.subjects ?? [], expected.subjects ?? [])
  const more = subjects.length > (existing.subjects?.length ?? 0)
  return metadata || more
    ? { object: { ...existing, ...(metadata && { metadata }), ...(more && { subjects }) }, replace: false }
    : undefined
}

const isProtected = ({ metadata }: KubeObject): boolean => metadata.annotations?.[autoUpdate] === 'false'

/** Adds missing labels and annotations; existing ones are not changed. */
function reconciledMetadata(
  { metadata }: KubeObject,
  { metadata: expected }: KubeObject,
): KubeObject['metadata'] | undefined {
  const labels = { ...expected.labels, ...metadata.labels }
  const annotations = { ...expected.annotations, ...metadata.annotations }
  if (size(labels) === size(metadata.labels) && size(annotations) === size(metadata.annotations)) return undefined
  return { ...metadata, labels, annotations }
}

const size = (map: object | undefined): number => Object.keys(map ?? {}).length

const sameSubject = (one: Subject, other: Subject): boolean =>
  one.kind === other.kind &&
  one.name === other.name &&
  (one.namespace ?? '') === (other.namespace ?? '') &&
  (one.apiGroup ?? '') === (other.apiGroup ?? '')

const union = (subjects: readonly Subject[], wanted: readonly Subject[]): readonly Subject[] => [
  ...subjects,
  ...wanted.filter((subject) => !subjects.some((known) => sameSubject(known, subject))),
]
