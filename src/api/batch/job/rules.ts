/** What is valid in a Job, and what may change once it is there. */
import type { V1Job } from '@kubernetes/client-node'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { Model } from '../../../machinery/object.ts'
import { validateLabelSelector } from '../../../machinery/selectors/label-selector.ts'
import { domainPrefixedPathFaults } from '../../../machinery/validation/domain-prefixed-path.ts'
import { type FieldError, invalidValue, notSupported, required, tooLong } from '../../../machinery/validation/field-error.ts'
import { all, immutable, nonNegative, oneOf, selects, valid } from '../../../machinery/validation/field-rules.ts'
import { dnsLabel } from '../../../machinery/validation/names.ts'
import { podTemplate } from '../../core/pod/index.ts'
import { selectorMatches } from '../../workload/template-rules.ts'
import { type JobSpec, podFailurePolicy } from './failure-policy.ts'
import { controllerUid, expectedLabels } from './selector.ts'
import { successPolicy } from './success-policy.ts'

export type Job = Model<V1Job>

const maxParallelIndexed = 100_000
const maxFailed = 100_000
/** With more completions than these, no more may run or fail than `maxOfMany`. */
const manyCompletions = 100_000
const maxOfMany = 10_000
const maxManagedBy = 63

/** The rules that hold for Jobs and for the form of a Job that a CronJob has. */
export function jobForm(spec: JobSpec, path: string): readonly FieldError[] {
  const { completionMode: mode, completions, parallelism = 0 } = spec
  const errors = [
    ...nonNegative(spec.parallelism, `${path}.parallelism`),
    ...nonNegative(completions, `${path}.completions`),
    ...nonNegative(spec.activeDeadlineSeconds, `${path}.activeDeadlineSeconds`),
    ...nonNegative(spec.backoffLimit, `${path}.backoffLimit`),
    ...nonNegative(spec.ttlSecondsAfterFinished, `${path}.ttlSecondsAfterFinished`),
    ...nonNegative(spec.backoffLimitPerIndex, `${path}.backoffLimitPerIndex`),
    ...nonNegative(spec.maxFailedIndexes, `${path}.maxFailedIndexes`),
    ...(spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined
      ? [required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified')]
      : valid),
    ...managedBy(spec.managedBy, `${path}.managedBy`),
  ]
  if (mode !== undefined) {
    if (mode !== 'NonIndexed' && mode !== 'Indexed') errors.push(notSupported(`${path}.completionMode`, mode, ['NonIndexed', 'Indexed']))
    if (mode === 'Indexed') {
      if (completions === undefined) errors.push(required(`${path}.completions`, 'when completion mode is Indexed'))
      if (parallelism > maxParallelIndexed)
        errors.push(invalidValue(`${path}.parallelism`, parallelism, `must be less than or equal to ${maxParallelIndexed} when completion mode is Indexed`))
      errors.push(...indexLimits(spec, path))
    }
  }
  if (mode !== 'Indexed') {
    if (spec.backoffLimitPerIndex !== undefined)
      errors.push(invalidValue(`${path}.backoffLimitPerIndex`, spec.backoffLimitPerIndex, 'requires indexed completion mode'))
    if (spec.maxFailedIndexes !== undefined) errors.push(invalidValue(`${path}.maxFailedIndexes`, spec.maxFailedIndexes, 'requires indexed completion mode'))
  }
  return all(
    errors,
    podFailurePolicy(spec, `${path}.podFailurePolicy`),
    successPolicy(spec, `${path}.successPolicy`),
    oneOf(spec.podReplacementPolicy, `${path}.podReplacementPolicy`, spec.podFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed']),
    podTemplate(spec.template ?? {}, `${path}.template`),
    restartPolicy(spec, path),
  )
}

/** Who looks after a Job, if it is not the cluster's own controller. */
function managedBy(who: string | undefined, path: string): readonly FieldError[] {
  if (who === undefined) return valid
  return all(domainPrefixedPathFaults(who, path), who.length > maxManagedBy ? [tooLong(path, maxManagedBy)] : valid)
}

/** What a status can hold of indexes that failed. */
function indexLimits(spec: JobSpec, path: string): readonly FieldError[] {
  const { completions: count = 0, parallelism = 0, maxFailedIndexes: failed, backoffLimitPerIndex } = spec
  const errors: FieldError[] = []
  const tooMuch = (field: 'parallelism' | 'maxFailedIndexes', most: string): number =>
    errors.push(invalidValue(`${path}.${field}`, spec[field], `must be less than or equal to ${most}`))
  if (failed !== undefined && spec.completions !== undefined && failed > count) tooMuch('maxFailedIndexes', 'completions')
  if (failed !== undefined && failed > maxFailed) tooMuch('maxFailedIndexes', `${maxFailed}`)
  if (count <= manyCompletions || backoffLimitPerIndex === undefined) return errors
  const together = `when completions are above ${manyCompletions} and used with backoff limit per index`
  if (failed === undefined) errors.push(required(`${path}.maxFailedIndexes`, `must be specified when completions is above ${manyCompletions}`))
  if (parallelism > maxOfMany) tooMuch('parallelism', `${maxOfMany} ${together}`)
  if (failed !== undefined && failed > maxOfMany) tooMuch('maxFailedIndexes', `${maxOfMany} ${together}`)
  return errors
}

/** Pods of a Job come to an end. */
function restartPolicy({ template, podFailurePolicy: policy }: JobSpec, path: string): readonly FieldError[] {
  const at = `${path}.template.spec.restartPolicy`
  const given = template?.spec?.restartPolicy
  if (!given || given === 'Always') return [required(at, 'valid values: "OnFailure", "Never"')]
  if (given !== 'OnFailure' && given !== 'Never') return [notSupported(at, given, ['OnFailure', 'Never'])]
  return policy && given !== 'Never' ? [invalidValue(at, given, 'only "Never" is supported when podFailurePolicy is specified')] : valid
}

function jobSpec(spec: JobSpec): readonly FieldError[] {
  const errors = jobForm(spec, 'spec')
  if (!spec.selector) return [...errors, required('spec.selector')]
  const selector = validateLabelSelector(spec.selector, 'spec.selector')
  return all(errors, selector, selector.length === 0 ? selectorMatches(spec.selector, spec.template) : valid)
}

/** A selector that is not given by hand is the server's own: nothing may be added, and the labels have to be there. */
function generatedSelector({ metadata, spec }: Job): readonly FieldError[] {
  if (!spec || spec.manualSelector || !spec.selector) return valid
  const uid = metadata.uid ?? ''
  const labels = spec.template?.metadata?.labels ?? {}
  const errors: FieldError[] = []
  for (const [key, value] of Object.entries(expectedLabels(uid, metadata.name ?? ''))) {
    const path = `spec.template.metadata.labels[${key}]`
    if (labels[key] === undefined) errors.push(required(path, `must be '${value}'`))
    else if (labels[key] !== value) errors.push(invalidValue(path, labels[key], `must be '${value}'`))
  }
  const own = validateLabelSelector(spec.selector, 'spec.selector').length > 0 || selects(spec.selector, { [controllerUid]: uid, 'controller-uid': uid })
  return own ? errors : [...errors, invalidValue('spec.selector', spec.selector, '`selector` not auto-generated')]
}

export const jobRules = (job: Job): readonly FieldError[] =>
  job.spec ? [...generatedSelector(job), ...jobSpec(job.spec), ...hostNames(job.metadata.name ?? '', job.spec)] : valid

/** Pods of an indexed Job are called by it and their index: the last one's host name has to be one. */
function hostNames(name: string, { completionMode, completions: count = 0 }: JobSpec): readonly FieldError[] {
  const last = `${name}-${count - 1}`
  return completionMode === 'Indexed' && count > 0 && dnsLabel(last).length > 0
    ? [invalidValue('metadata.name', name, `will not able to create pod with invalid DNS label: ${last}`)]
    : valid
}

/** Upstream looks at the spec twice on updates: causes come twice. */
export function jobUpdate({ spec }: Job, { spec: old, status }: Job): readonly FieldError[] {
  if (!spec || !old) return valid
  return all(
    jobSpec(spec),
    completions(spec, old),
    immutable(spec.selector, 'spec.selector', old.selector),
    template(spec, old, old.suspend === true && !status?.startTime),
    immutable(spec.completionMode, 'spec.completionMode', old.completionMode),
    immutable(spec.podFailurePolicy, 'spec.podFailurePolicy', old.podFailurePolicy),
    immutable(spec.backoffLimitPerIndex, 'spec.backoffLimitPerIndex', old.backoffLimitPerIndex),
    immutable(spec.managedBy, 'spec.managedBy', old.managedBy),
    immutable(spec.successPolicy, 'spec.successPolicy', old.successPolicy),
  )
}

/** Of an indexed Job completions may change together with parallelism. */
function completions(spec: JobSpec, old: JobSpec): readonly FieldError[] {
  const path = 'spec.completions'
  if (spec.completions === old.completions) return valid
  if (spec.completionMode !== 'Indexed' || spec.completions === undefined || old.completions === undefined)
    return immutable(spec.completions ?? null, path, old.completions)
  return spec.completions === spec.parallelism ? valid : [invalidValue(path, spec.completions, 'can only be modified in tandem with spec.parallelism')]
}

/** Where pods may run can change as long as none has run. */
function template({ template: given }: JobSpec, { template: old }: JobSpec, movable: boolean): readonly FieldError[] {
  if (!movable || !given || !old) return immutable(given, 'spec.template', old)
  const affinity = { ...given.spec?.affinity, nodeAffinity: old.spec?.affinity?.nodeAffinity }
  const rest = {
    ...given,
    metadata: { ...given.metadata, annotations: old.metadata?.annotations, labels: old.metadata?.labels },
    spec: { ...given.spec, affinity, nodeSelector: old.spec?.nodeSelector, tolerations: old.spec?.tolerations, schedulingGates: old.spec?.schedulingGates },
  }
  return semanticallyEqual(rest, old) ? valid : [invalidValue('spec.template', given, 'field is immutable')]
}
