/** Jobs: pods that run to their end. */

import { labelSelectorText } from '../../../machinery/selectors/label-selector.ts'
import { humanDuration } from '../../../machinery/values/duration.ts'
import { podNamesOf, podTemplateDefaults, templateWarnings } from '../../core/pod/index.ts'
import { nullTimes } from '../../nulls.ts'
import { containerImages, containerNames } from '../../printing/containers.ts'
import { age, type Cell, column, name, resource, wide } from '../../resource.ts'
import { isChanged } from '../../workload/template-warnings.ts'
import type { JobSpec } from './failure-policy.ts'
import { type Job, jobRules, jobUpdate } from './rules.ts'
import { generateSelector } from './selector.ts'
import { jobStatusRules } from './status-rules.ts'

export type { JobSpec } from './failure-policy.ts'
export { jobForm } from './rules.ts'

/** Of a label's value, in characters. */
const longestLabel = 63

/** More indexes than this, with more pods at once than that, are more than a status can hold. */
const mostCompletions = 100_000
const mostParallel = 10_000
const tooMuchToTrack =
  'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes ' +
  'might not be able to track completedIndexes when a big number of indexes fail'

/** Warnings about a Job, or about the form of one. */
export function jobFormWarnings(spec: JobSpec | undefined, path: string): readonly string[] {
  if (!spec) return []
  const isTooMuch =
    spec.completionMode === 'Indexed' &&
    (spec.completions ?? 0) > mostCompletions &&
    (spec.parallelism ?? 0) > mostParallel
  return [...(isTooMuch ? [`${path}: ${tooMuchToTrack}`] : []), ...templateWarnings(spec.template, `${path}.template`)]
}

const unlimited = 2 ** 31 - 1

/** What holds for the form of a Job inside a CronJob too. */
export function jobFormDefaults(spec: JobSpec): void {
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
    jobFormDefaults(spec)
  }
  job.status ??= {}
  if (job.status.conditions) nullTimes(job.status.conditions, 'lastProbeTime', 'lastTransitionTime')
}

/** A Job without labels has those of its pods. */
function labelDefaults({ metadata, spec }: Job): void {
  const labels = spec?.template?.metadata?.labels
  if (labels && Object.keys(labels).length > 0 && Object.keys(metadata.labels ?? {}).length === 0)
    metadata.labels = { ...labels }
}

const words: readonly (readonly [string, string])[] = [
  ['Complete', 'Complete'],
  ['Failed', 'Failed'],
]
const unfinished = ['Suspended', 'FailureTarget', 'SuccessCriteriaMet']

function statusText({ metadata, status }: Job): string {
  const is = (type: string): boolean =>
    status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false
  const finished = words.find(([type]) => is(type))
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
      // Upstream reads a new object once more, defaults and all: generated labels count. A name that is no label is
      // refused before.
      if ((job.metadata.name ?? '').length <= longestLabel) labelDefaults(job)
    },
  },
  validate: { object: jobRules, update: jobUpdate, status: jobStatusRules },
  warnings: (job, old) => [
    ...(old ? [] : podNamesOf(job.metadata.name)),
    ...(isChanged(job, old) ? jobFormWarnings(job.spec, 'spec') : []),
  ],
  selectableFields: { 'status.successful': ({ status }) => String(status?.succeeded ?? 0) },
  unknownFieldLabel: (label) => `field label ${JSON.stringify(label)} not supported for Job`,
  columns: [
    name,
    column('Status', statusText, { description: 'Whether it runs, and how it ended.' }),
    column('Completions', completions, { description: 'Pods that succeeded, of those that have to.' }),
    column('Duration', duration, { description: 'How long it has run.' }),
    age,
    wide('Containers', ({ spec }) => containerNames(spec?.template), { description: 'The names of its containers.' }),
    wide('Images', ({ spec }) => containerImages(spec?.template), { description: 'The images of its containers.' }),
    wide('Selector', ({ spec }) => labelSelectorText(spec?.selector), {
      description: 'What the labels of its pods have to be.',
    }),
  ],
  deletion: {
    defaultPropagation: 'orphan',
    defaultPropagationWarning:
      'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove ' +
      'them or set propagationPolicy=Orphan to suppress this warning',
  },
})
