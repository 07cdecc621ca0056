/** The conditions of a namespace that is being deleted, with upstream's reasons and messages. */
import type { Namespace } from '../../client/kinds.ts'
import type { ContentReport } from './content.ts'

type Status = NonNullable<Namespace['status']>
type Condition = NonNullable<Status['conditions']>[number]

/** In the order in which they are added. */
const healthyConditions = {
  NamespaceDeletionDiscoveryFailure: ['ResourcesDiscovered', 'All resources successfully discovered'],
  NamespaceDeletionGroupVersionParsingFailure: ['ParsedGroupVersions', 'All legacy kube types successfully parsed'],
  NamespaceDeletionContentFailure: [
    'ContentDeleted',
    'All content successfully deleted, may be waiting on finalization',
  ],
  NamespaceContentRemaining: ['ContentRemoved', 'All content successfully removed'],
  NamespaceFinalizersRemaining: ['ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
} as const

type ConditionType = keyof typeof healthyConditions

/** Returns the status with the conditions of a report; undefined if nothing changes. `now` is in RFC 3339. */
export function statusFor(status: Status | undefined, report: ContentReport, now: string): Status | undefined {
  const problems = problemsOf(report)
  const conditions: Condition[] = [...(status?.conditions ?? [])]
  let changed = false
  for (const type of Object.keys(healthyConditions) as ConditionType[]) {
    const problem = problems.get(type)
    const [reason, message] = problem ?? healthyConditions[type]
    const desired = problem ? 'True' : 'False'
    const at = conditions.findIndex((condition) => condition.type === type)
    const old = conditions[at]
    if (old?.status === desired && old.reason === reason && old.message === message) continue
    const lastTransitionTime = old?.status === desired ? old.lastTransitionTime : now
    conditions.splice(at < 0 ? conditions.length : at, at < 0 ? 0 : 1, {
      ...old,
      type,
      status: desired,
      reason,
      message,
      lastTransitionTime,
    })
    changed = true
  }
  return changed ? { ...status, conditions } : undefined
}

function problemsOf({
  discoveryFailure,
  failures,
  remaining,
}: ContentReport): Map<ConditionType, readonly [reason: string, message: string]> {
  const problems = new Map<ConditionType, readonly [string, string]>()
  if (discoveryFailure) problems.set('NamespaceDeletionDiscoveryFailure', ['DiscoveryFailed', discoveryFailure])
  if (failures.length > 0) {
    const all = [...failures].sort().join(', ')
    problems.set('NamespaceDeletionContentFailure', [
      'ContentDeletionFailed',
      `Failed to delete all resource types, ${failures.length} remaining: ${all}`,
    ])
  }
  if (remaining.length > 0) {
    const all = remaining.map(
      ({ resource, count }) => `${resource.plural}.${resource.group} has ${count} resource instances`,
    )
    problems.set('NamespaceContentRemaining', [
      'SomeResourcesRemain',
      `Some resources are remaining: ${all.sort().join(', ')}`,
    ])
  }
  const held = new Map<string, number>()
  for (const { finalizers } of remaining)
    for (const [name, count] of finalizers) held.set(name, (held.get(name) ?? 0) + count)
  if (held.size > 0) {
    const all = [...held].map(([name, count]) => `${name} in ${count} resource instances`)
    problems.set('NamespaceFinalizersRemaining', [
      'SomeFinalizersRemain',
      `Some content in the namespace has finalizers remaining: ${all.sort().join(', ')}`,
    ])
  }
  return problems
}
