/** Validation of Jobs and their updates. */

import type { V1Job } from '@kubernetes/client-node'
import { sortedByKey } from '../../../lib/collections/sorted-by-key.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { Model } from '../../../machinery/object.ts'
import { validateLabelSelector } from '../../../machinery/selectors/label-selector.ts'
import { domainPrefixedPathFaults } from '../../../machinery/validation/domain-prefixed-path.ts'
import {
  type FieldError,
  invalidValue,
  notSupported,
  required,
  tooLong,
} from '../../../machinery/validation/field-error.ts'
import { all, immutable, nonNegative, oneOf, selects, valid } from '../../../machinery/validation/field-rules.ts'
import { labelSelector, list, optional, pointer, text } from '../../../machinery/validation/internal-type.ts'
import { dnsLabel } from '../../../machinery/validation/names.ts'
import { podTemplate } from '../../core/pod/index.ts'
import { isFeatureOn } from '../../features/current.ts'
import { selectorMatches } from '../../workload/template-rules.ts'
import { type JobSpec, podFailurePolicy } from './failure-policy.ts'
import { controllerUid, expectedLabels } from './selector.ts'
import { shownSuccessPolicy, successPolicy } from './success-policy.ts'

export type Job = Model<V1Job>

const maxParallelIndexed = 100_000
const maxFailedIndexes = 100_000
/** Lower limits apply to Jobs with more completions and backoffLimitPerIndex. */
const manyCompletions = 100_000
const maxWithManyCompletions = 10_000
const maxManagerLength = 63

/** Validates the spec of a Job or of a CronJob's jobTemplate. */
export function validateJobSpec(spec: JobSpec, path: string): readonly FieldError[] {
  const { completionMode: mode, completions } = spec
  const errors = [
    ...nonNegative(spec.parallelism, `${path}.parallelism`),
    ...nonNegative(completions, `${path}.completions`),
    ...nonNegative(spec.activeDeadlineSeconds, `${path}.activeDeadlineSeconds`),
    ...nonNegative(spec.backoffLimit, `${path}.backoffLimit`),
    ...nonNegative(spec.ttlSecondsAfterFinished, `${path}.ttlSecondsAfterFinished`),
    ...nonNegative(spec.backoffLimitPerIndex, `${path}.backoffLimitPerIndex`),
    ...nonNegative(spec.maxFailedIndexes, `${path}.maxFailedIndexes`),
  ]
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined)
    errors.push(required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'))
  if (spec.managedBy !== undefined) errors.push(...managerName(spec.managedBy, `${path}.managedBy`))
  if (mode !== undefined && mode !== 'NonIndexed' && mode !== 'Indexed')
    errors.push(notSupported(`${path}.completionMode`, mode, ['NonIndexed', 'Indexed']))
  if (mode === 'Indexed') errors.push(...indexed(spec, path))
  if (mode !== 'Indexed') {
    if (spec.backoffLimitPerIndex !== undefined)
      errors.push(
        invalidValue(`${path}.backoffLimitPerIndex`, spec.backoffLimitPerIndex, 'requires indexed completion mode'),
      )
    if (spec.maxFailedIndexes !== undefined)
      errors.push(invalidValue(`${path}.maxFailedIndexes`, spec.maxFailedIndexes, 'requires indexed completion mode'))
  }
  return all(
    errors,
    podFailurePolicy(spec, `${path}.podFailurePolicy`),
    successPolicy(spec, `${path}.successPolicy`),
    oneOf(
      spec.podReplacementPolicy,
      `${path}.podReplacementPolicy`,
      spec.podFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed'],
    ),
    podTemplate(spec.template ?? {}, `${path}.template`),
    restartPolicy(spec, path),
  )
}

const managerName = (name: string, path: string): readonly FieldError[] =>
  all(domainPrefixedPathFaults(name, path), name.length > maxManagerLength ? [tooLong(path, maxManagerLength)] : valid)

function indexed(
  { completions, parallelism = 0, maxFailedIndexes: mostFailed, backoffLimitPerIndex }: JobSpec,
  path: string,
): readonly FieldError[] {
  const errors: FieldError[] = []
  const atMost = (field: string, value: number, most: number, when = ''): void => {
    if (value > most)
      errors.push(invalidValue(`${path}.${field}`, value, `must be less than or equal to ${most}${when}`))
  }
  if (completions === undefined) errors.push(required(`${path}.completions`, 'when completion mode is Indexed'))
  atMost('parallelism', parallelism, maxParallelIndexed, ' when completion mode is Indexed')
  if (mostFailed !== undefined) {
    if (completions !== undefined && mostFailed > completions)
      errors.push(invalidValue(`${path}.maxFailedIndexes`, mostFailed, 'must be less than or equal to completions'))
    atMost('maxFailedIndexes', mostFailed, maxFailedIndexes)
  }
  if (completions === undefined || completions <= manyCompletions || backoffLimitPerIndex === undefined) return errors
  if (mostFailed === undefined)
    errors.push(required(`${path}.maxFailedIndexes`, `must be specified when completions is above ${manyCompletions}`))
  const when = ` when completions are above ${manyCompletions} and used with backoff limit per index`
  atMost('parallelism', parallelism, maxWithManyCompletions, when)
  atMost('maxFailedIndexes', mostFailed ?? 0, maxWithManyCompletions, when)
  return errors
}

/** Rejects restartPolicy Always: pods of a Job must terminate. */
function restartPolicy({ template, podFailurePolicy: policy }: JobSpec, path: string): readonly FieldError[] {
  const at = `${path}.template.spec.restartPolicy`
  const given = template?.spec?.restartPolicy
  if (!given || given === 'Always') return [required(at, 'valid values: "OnFailure", "Never"')]
  if (given !== 'OnFailure' && given !== 'Never') return [notSupported(at, given, ['OnFailure', 'Never'])]
  return policy && given !== 'Never'
    ? [invalidValue(at, given, 'only "Never" is supported when podFailurePolicy is specified')]
    : valid
}

function jobSpec(spec: JobSpec): readonly FieldError[] {
  const errors = validateJobSpec(spec, 'spec')
  if (!spec.selector) return [...errors, required('spec.selector')]
  const selector = validateLabelSelector(spec.selector, 'spec.selector')
  return all(errors, selector, selector.length === 0 ? selectorMatches(spec.selector, spec.template) : valid)
}

/** Without manualSelector, selector and labels must be those that the server generates. */
function generatedSelector({ metadata, spec }: Job): readonly FieldError[] {
  if (!spec || spec.manualSelector || !spec.selector) return valid
  const uid = metadata.uid ?? ''
  const labels = spec.template?.metadata?.labels ?? {}
  const errors: FieldError[] = []
  for (const [key, value] of Object.entries(expectedLabels(uid, metadata.name ?? ''))) {
    const path = `spec.template.metadata.labels[${key}]`
    if (labels[key] === undefined) errors.push(required(path, `must be '${value}'`))
    else if (labels[key] !== value) errors.push(invalidValue(path, sortedByKey(labels), `must be '${value}'`))
  }
  const isGenerated =
    validateLabelSelector(spec.selector, 'spec.selector').length > 0 ||
    selects(spec.selector, { [controllerUid]: uid, 'controller-uid': uid })
  return isGenerated
    ? errors
    : [...errors, invalidValue('spec.selector', labelSelector(spec.selector), '`selector` not auto-generated')]
}

export const jobRules = (job: Job): readonly FieldError[] =>
  job.spec ? all(generatedSelector(job), jobSpec(job.spec), longestHostname(job.metadata.name ?? '', job.spec)) : valid

/** Host names of an indexed Job's pods are the Job's name and the index. */
function longestHostname(name: string, { completionMode, completions = 0 }: JobSpec): readonly FieldError[] {
  if (completionMode !== 'Indexed' || completions <= 0) return valid
  const host = `${name}-${completions - 1}`
  return dnsLabel(host).length === 0
    ? valid
    : [invalidValue('metadata.name', name, `will not able to create pod with invalid DNS label: ${host}`)]
}

const shownFailurePolicy = pointer({
  Rules: list({
    Action: text,
    OnExitCodes: pointer({ ContainerName: optional, Operator: text, Values: optional }),
    OnPodConditions: list({ Type: text, Status: text }),
  }),
})

/** Upstream validates the spec twice on updates, so its errors are repeated. */
export function jobUpdate({ spec }: Job, { spec: old, status }: Job): readonly FieldError[] {
  if (!spec || !old) return valid
  return all(
    jobSpec(spec),
    completions(spec, old),
    immutable(spec.selector, 'spec.selector', old.selector, labelSelector),
    template(spec, old, canChangePods(old, status)),
    immutable(spec.completionMode, 'spec.completionMode', old.completionMode),
    immutable(spec.podFailurePolicy, 'spec.podFailurePolicy', old.podFailurePolicy, shownFailurePolicy),
    immutable(spec.backoffLimitPerIndex, 'spec.backoffLimitPerIndex', old.backoffLimitPerIndex),
    immutable(spec.managedBy, 'spec.managedBy', old.managedBy),
    immutable(spec.successPolicy, 'spec.successPolicy', old.successPolicy, shownSuccessPolicy),
  )
}

/** Completions of an indexed Job may change together with parallelism only. */
function completions(spec: JobSpec, old: JobSpec): readonly FieldError[] {
  const path = 'spec.completions'
  if (spec.completions === old.completions) return valid
  if (spec.completionMode !== 'Indexed') return immutable(spec.completions ?? null, path, old.completions)
  // validateJobSpec rejects an indexed Job without completions.
  if (spec.completions === undefined) return valid
  return spec.completions === spec.parallelism
    ? valid
    : [invalidValue(path, spec.completions, 'can only be modified in tandem with spec.parallelism')]
}

/**
 * Returns true if scheduling fields and resources of the pod template may change (KEP-5440): the Job is suspended and
 * has no pods of an older template.
 */
const canChangePods = ({ suspend }: JobSpec, status: Job['status']): boolean =>
  suspend === true &&
  !status?.active &&
  (!status?.startTime || (isFeatureOn('MutableSchedulingDirectivesForSuspendedJobs') && isTrue(status, 'Suspended')))

const isTrue = (status: Job['status'], type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false

/** A changeable template is compared by its pod spec only. */
function template(
  { template: given }: JobSpec,
  { template: old }: JobSpec,
  isChangeable: boolean,
): readonly FieldError[] {
  if (!given || !old || !isChangeable) return immutable(given, 'spec.template', old)
  return semanticallyEqual(given.spec, withChangeableFields(given.spec, old.spec))
    ? valid
    : [invalidValue('spec.template.spec', given.spec, 'field is immutable')]
}

type PodSpec = NonNullable<JobSpec['template']>['spec']

/** Returns the old spec with the changeable fields of the given one. */
function withChangeableFields(given: PodSpec, old: PodSpec): PodSpec {
  if (!given || !old) return old
  const { nodeSelector, tolerations, schedulingGates } = given
  const withGiven = (containers: Containers, before: Containers): Containers =>
    isFeatureOn('MutablePodResourcesForSuspendedJobs') ? withResources(containers, before) : before
  return {
    ...old,
    affinity: { ...old.affinity, nodeAffinity: given.affinity?.nodeAffinity },
    nodeSelector,
    tolerations,
    schedulingGates,
    containers: withGiven(given.containers, old.containers) ?? [],
    initContainers: withGiven(given.initContainers, old.initContainers),
  }
}

type Containers = NonNullable<PodSpec>['initContainers']

const withResources = (given: Containers, old: Containers): Containers =>
  old?.map((container, at) => ({ ...container, resources: given?.[at]?.resources }))
