/** What the status of a namespace says about its end: conditions with Kubernetes' reasons and words. */
import type { Namespace } from '../../client/kinds.ts'
import type { ContentReport } from './content.ts'

type Status = NonNullable<Namespace['status']>
type Condition = NonNullable<Status['conditions']>[number]

/** Their order is that in which they are added. */
const allIsWell = {
  NamespaceDeletionDiscoveryFailure: ['ResourcesDiscovered', 'All resources successfully discovered'],
  NamespaceDeletionGroupVersionParsingFailure: ['ParsedGroupVersions', 'All legacy kube types successfully parsed'],
  NamespaceDeletionContentFailure: [
    'ContentDeleted',
    'All content successfully deleted, may be waiting on finalization',
  ],
  NamespaceContentRemaining: ['ContentRemoved', 'All content successfully removed'],
  NamespaceFinalizersRemaining: ['ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
} as const

type ConditionType = keyof typeof allIsWell

/**
 * The status with its conditions as the report wants them; undefined if they are so already. `now` is an RFC 3339 time.
 */
export function statusAfter(status: Status | undefined, report: ContentReport, now: string): Status | undefined {
  const troubles = troublesOf(report)
  const conditions: Condition[] = [...(status?.conditions ?? [])]
  let changed = false
  for (const type of Object.keys(allIsWell) as ConditionType[]) {
    const trouble = troubles.get(type)
    const [reason, message] = trouble ?? allIsWell[type]
    const wanted = trouble ? 'True' : 'False'
    const at = conditions.findIndex((condition) => condition.type === type)
    const old = conditions[at]
    if (old?.status === wanted && old.reason === reason && old.message === message) continue
    const lastTransitionTime = old?.status === wanted ? old.lastTransitionTime : now
    conditions.splice(at < 0 ? conditions.length : at, at < 0 ? 0 : 1, {
      ...old,
      type,
      status: wanted,
      reason,
      message,
      lastTransitionTime,
    })
    changed = true
  }
  return changed ? { ...status, conditions } : undefined
}

function troublesOf({
  discoveryFailure,
  failures,
  remaining,
}: ContentReport): Map<ConditionType, readonly [reason: string, message: string]> {
  const troubles = new Map<ConditionType, readonly [string, string]>()
  if (discoveryFailure) troubles.set('NamespaceDeletionDiscoveryFailure', ['DiscoveryFailed', discoveryFailure])
  if (failures.length > 0) {
    const all = [...failures].sort().join(', ')
    troubles.set('NamespaceDeletionContentFailure', [
      'ContentDeletionFailed',
      `Failed to delete all resource types, ${failures.length} remaining: ${all}`,
    ])
  }
  if (remaining.length > 0) {
    const all = remaining.map(
      ({ resource, count }) => `${resource.plural}.${resource.group} has ${count} resource instances`,
    )
    troubles.set('NamespaceContentRemaining', [
      'SomeResourcesRemain',
      `Some resources are remaining: ${all.sort().join(', ')}`,
    ])
  }
  const held = new Map<string, number>()
  for (const { finalizers } of remaining)
    for (const [name, count] of finalizers) held.set(name, (held.get(name) ?? 0) + count)
  if (held.size > 0) {
    const all = [...held].map(([name, count]) => `${name} in ${count} resource instances`)
    troubles.set('NamespaceFinalizersRemaining', [
      'SomeFinalizersRemain',
      `Some content in the namespace has finalizers remaining: ${all.sort().join(', ')}`,
    ])
  }
  return troubles
}
