/** Applies a Job's pod failure policy to a failed pod (KEP-3329). */
import type { Job, Pod } from '../../../../client/kinds.ts'

type Rule = NonNullable<NonNullable<Job['spec']>['podFailurePolicy']>['rules'][number]
type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]

export interface FailureVerdict {
  /** Undefined if no rule matches the pod. */
  readonly action?: 'FailJob' | 'FailIndex' | 'Count' | 'Ignore'
  /** True if it counts towards the back-off limit. */
  readonly counts: boolean
  /** The reason why the Job fails, for `FailJob`. */
  readonly message?: string
}

/** Returns the verdict of the first rule that matches the pod. */
export function failureVerdict({ spec }: Job, pod: Pod): FailureVerdict {
  for (const [index, rule] of spec?.podFailurePolicy?.rules.entries() ?? []) {
    const why = rule.onExitCodes ? byExitCode(rule.onExitCodes, pod) : byCondition(rule.onPodConditions, pod)
    if (why === undefined) continue
    const { action } = rule
    if (action === 'Ignore') return { action, counts: false }
    if (action === 'FailJob')
      return { action, counts: true, message: `${why} matching ${action} rule at index ${index}` }
    if (action === 'FailIndex' || action === 'Count') return { action, counts: true }
  }
  return { counts: true }
}

function byExitCode(
  { containerName, operator, values }: NonNullable<Rule['onExitCodes']>,
  { metadata, status }: Pod,
): string | undefined {
  const isMatch = ({ name, state }: ContainerStatus): boolean => {
    const exitCode = state?.terminated?.exitCode ?? 0
    return (
      (containerName === undefined || containerName === name) &&
      exitCode !== 0 &&
      values.includes(exitCode) === (operator === 'In')
    )
  }
  const container = status?.containerStatuses?.find(isMatch) ?? status?.initContainerStatuses?.find(isMatch)
  return (
    container &&
    `Container ${container.name} for pod ${metadata.namespace}/${metadata.name} failed with exit code ` +
      `${container.state?.terminated?.exitCode}`
  )
}

function byCondition(patterns: Rule['onPodConditions'], { metadata, status }: Pod): string | undefined {
  const met = status?.conditions?.find(({ type, status }) =>
    patterns?.some((pattern) => pattern.type === type && (pattern.status ?? 'True') === status),
  )
  return met && `Pod ${metadata.namespace}/${metadata.name} has condition ${met.type}`
}
