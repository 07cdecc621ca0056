/** Jobs: pods that run to completion. */

import { labelSelectorText } from '../../../machinery/selectors/label-selector.ts'
import { humanDuration } from '../../../machinery/values/duration.ts'
import { podNameWarnings, podTemplateDefaults, templateWarnings } from '../../core/pod/index.ts'
import { nullMissingTimes } from '../../nulls.ts'
import { containerImages, containerNames } from '../../printing/containers.ts'
import { age, type Cell, column, name, resource, wide } from '../../resource.ts'
import { isChanged } from '../../workload/template-warnings.ts'
import type { JobSpec } from './failure-policy.ts'
import { type Job, jobRules, jobUpdate } from './rules.ts'
import { generateSelector } from './selector.ts'
import { jobStatusRules } from './status-rules.ts'

export type { JobSpec } from './failure-policy.ts'
export { validateJobSpec } from './rules.ts'

/** The maximum length of a label value, in characters. */
const longestLabel = 63

/** A Job above both limits may exceed the size of completedIndexes in its status. */
const maxTrackedCompletions = 100_000
const maxTrackedParallelism = 10_000
const tooMuchToTrack =
  'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes ' +
  'might not be able to track completedIndexes when a big number of indexes fail'

/** Returns warnings about a Job spec, or that of a CronJob's jobTemplate. */
export function jobTemplateWarnings(spec: JobSpec | undefined, path: string): readonly string[] {
  if (!spec) return []
  const isTooMuch =
    spec.completionMode === 'Indexed' &&
    (spec.completions ?? 0) > maxTrackedCompletions &&
    (spec.parallelism ?? 0) > maxTrackedParallelism
  return [...(isTooMuch ? [`${path}: ${tooMuchToTrack}`] : []), ...templateWarnings(spec.template, `${path}.template`)]
}

const unlimited = 2 ** 31 - 1

/** Sets the defaults that a CronJob's jobTemplate gets too. */
export function jobTemplateDefaults(spec: JobSpec): void {
  podTemplateDefaults(spec.template)
  for (const { onPodConditions } of spec.podFailurePolicy?.rules ?? [])
    for (const condition of onPodConditions ?? []) condition.status ||= 'True'
}

function jobDefaults(job: Job): void {
  const { spec } = job
  if (spec) {
    if (spec.completions === undefined && spec.parallelism === undefined) {
      spec.completions = 1
      spec.parallelism = 1
    }
    spec.parallelism ??= 1
    spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : unlimited
    spec.completionMode ??= 'NonIndexed'
    spec.suspend ??= false
    spec.manualSelector ??= false
    spec.podReplacementPolicy ??= spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed'
    labelDefaults(job)
    jobTemplateDefaults(spec)
  }
  job.status ??= {}
  if (job.status.conditions) nullMissingTimes(job.status.conditions, 'lastProbeTime', 'lastTransitionTime')
}

/** Copies the labels of the pod template to a Job without labels. */
function labelDefaults({ metadata, spec }: Job): void {
  const labels = spec?.template?.metadata?.labels
  if (labels && Object.keys(labels).length > 0 && Object.keys(metadata.labels ?? {}).length === 0)
    metadata.labels = { ...labels }
}

const finishedStatuses: readonly (readonly [string, string])[] = [
  ['Complete', 'Complete'],
  ['Failed', 'Failed'],
]
const unfinished = ['Suspended', 'FailureTarget', 'SuccessCriteriaMet']

function statusText({ metadata, status }: Job): string {
  const is = (type: string): boolean =>
    status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false
  const finished = finishedStatuses.find(([type]) => is(type))
  if (finished) return finished[1]
  return metadata.deletionTimestamp ? 'Terminating' : (unfinished.find(is) ?? 'Running')
}

function completions({ spec, status }: Job): string {
  const done = status?.succeeded ?? 0
  if (spec?.completions !== undefined) return `${done}/${spec.completions}`
  const parallel = spec?.parallelism ?? 0
  return parallel > 1 ? `${done}/1 of ${parallel}` : `${done}/1`
}

function duration({ status }: Job): Cell {
  if (!status?.startTime) return ''
  return status.completionTime
    ? humanDuration(Date.parse(status.completionTime) - Date.parse(status.startTime))
    : { since: status.startTime }
}

export const jobs = resource<Job>({
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  plural: 'jobs',
  categories: ['all'],
  scope: 'Namespaced',
  subresources: { status: true },
  generation: 'spec',
  defaults: [jobDefaults],
  prepare: {
    create: (job) => {
      job.status = {}
      generateSelector(job)
      // Upstream decodes a new object a second time and applies defaults again, so generated labels count. Validation
      // rejects names that are no label values before that.
      if ((job.metadata.name ?? '').length <= longestLabel) labelDefaults(job)
    },
  },
  validate: { object: jobRules, update: jobUpdate, status: jobStatusRules },
  warnings: (job, old) => [
    ...(old ? [] : podNameWarnings(job.metadata.name)),
    ...(isChanged(job, old) ? jobTemplateWarnings(job.spec, 'spec') : []),
  ],
  selectableFields: { 'status.successful': ({ status }) => String(status?.succeeded ?? 0) },
  unknownFieldLabel: (label) => `field label ${JSON.stringify(label)} not supported for Job`,
  columns: [
    name,
    column('Status', statusText, { description: 'Whether it is running, or how it ended.' }),
    column('Completions', completions, { description: 'Succeeded pods, of required pods.' }),
    column('Duration', duration, { description: 'How long it has run.' }),
    age,
    wide('Containers', ({ spec }) => containerNames(spec?.template), { description: 'The names of its containers.' }),
    wide('Images', ({ spec }) => containerImages(spec?.template), { description: 'The images of its containers.' }),
    wide('Selector', ({ spec }) => labelSelectorText(spec?.selector), {
      description: 'The label selector of its pods.',
    }),
  ],
  deletion: {
    defaultPropagation: 'orphan',
    defaultPropagationWarning:
      'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove ' +
      'them or set propagationPolicy=Orphan to suppress this warning',
  },
})
