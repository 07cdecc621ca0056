/** CronJobs: create Jobs on a schedule. */

import type { V1CronJob } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { labelSelectorText } from '../../machinery/selectors/label-selector.ts'
import { type FieldError, invalidValue, notSupported, required } from '../../machinery/validation/field-error.ts'
import { all, nonNegative, oneOf, valid } from '../../machinery/validation/field-rules.ts'
import { labelSelector } from '../../machinery/validation/internal-type.ts'
import { podNameWarnings } from '../core/pod/index.ts'
import { containerImages, containerNames } from '../printing/containers.ts'
import { age, column, name, resource, wide } from '../resource.ts'
import { isChanged } from '../workload/template-warnings.ts'
import { parseCronSchedule } from './cron-schedule.ts'
import { jobTemplateDefaults, jobTemplateWarnings, validateJobSpec } from './job/index.ts'

type CronJob = Model<V1CronJob>
type CronJobSpec = NonNullable<CronJob['spec']>

const schedulePath = 'spec.schedule'

/** The controller adds 11 characters to the names of its Jobs. */
const maxName = 52

function cronJobDefaults(cron: CronJob): void {
  const { spec } = cron
  if (spec) {
    spec.concurrencyPolicy ||= 'Allow'
    spec.suspend ??= false
    spec.successfulJobsHistoryLimit ??= 3
    spec.failedJobsHistoryLimit ??= 1
    spec.jobTemplate ??= {}
    spec.jobTemplate.metadata ??= {}
    if (spec.jobTemplate.spec) jobTemplateDefaults(spec.jobTemplate.spec)
  }
  cron.status ??= {}
}

/**
 * A time zone in the schedule (`TZ=UTC 0 * * * *`) was never supported officially; only existing CronJobs may keep it.
 */
const hasZoneInSchedule = ({ schedule: text }: CronJobSpec): boolean => text?.includes('TZ') ?? false

function schedule(spec: CronJobSpec, old: CronJobSpec | undefined): readonly FieldError[] {
  const { schedule: text, timeZone } = spec
  if (!text) return [required(schedulePath)]
  const errors: FieldError[] = []
  try {
    parseCronSchedule(withoutZone(text))
  } catch (error) {
    errors.push(invalidValue(schedulePath, text, error instanceof Error ? error.message : String(error)))
  }
  if (!hasZoneInSchedule(spec)) return errors
  if (!old || !hasZoneInSchedule(old))
    errors.push(invalidValue(schedulePath, text, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'))
  else if (timeZone !== undefined)
    errors.push(invalidValue(schedulePath, text, 'cannot use both timeZone field and TZ or CRON_TZ in schedule'))
  return errors
}

/** Returns the schedule without its time zone. Throws an Error if the zone is unknown. */
function withoutZone(text: string): string {
  if (!/^(CRON_)?TZ=/.test(text)) return text
  const [first = '', ...rest] = text.split(' ')
  const zone = first.slice(first.indexOf('=') + 1)
  if (!isTimeZone(zone)) throw new Error(`provided bad location ${zone}: unknown time zone ${zone}`)
  return rest.join(' ').trim()
}

/** Returns true for the exact name of an IANA time zone: not for offsets, nor for names in another case. */
function isTimeZone(zone: string): boolean {
  if (/^[+-]/.test(zone)) return false
  try {
    const canonical = new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone
    // For an alias, Intl returns another name, so its case cannot be checked.
    return canonical === zone || canonical.toLowerCase() !== zone.toLowerCase()
  } catch {
    return false
  }
}

/** A part of a time zone's name, between slashes. */
const zonePart = /^(?!-|\.\.?$)[A-Za-z._0-9+-]{1,14}$/

function timeZone(zone: string | undefined): readonly FieldError[] {
  if (zone === undefined) return valid
  const zoneError = (detail: string): readonly FieldError[] => [invalidValue('spec.timeZone', zone, detail)]
  if (zone === '') return zoneError('timeZone must be nil or non-empty string')
  if (zone.toLowerCase() === 'local')
    return zoneError('timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones')
  return zone.split('/').every((part) => zonePart.test(part)) && isTimeZone(zone)
    ? valid
    : zoneError(`unknown time zone ${zone}`)
}

function rules({ spec }: CronJob, old?: CronJobSpec): readonly FieldError[] {
  if (!spec) return valid
  const form = spec.jobTemplate.spec
  return all(
    schedule(spec, old),
    nonNegative(spec.startingDeadlineSeconds, 'spec.startingDeadlineSeconds'),
    old && old.timeZone === spec.timeZone ? valid : timeZone(spec.timeZone),
    oneOf(spec.concurrencyPolicy, 'spec.concurrencyPolicy', ['Allow', 'Forbid', 'Replace'], 'needed'),
    form ? validateJobSpec(form, 'spec.jobTemplate.spec') : valid,
    form?.selector
      ? [
          invalidValue(
            'spec.jobTemplate.spec.selector',
            labelSelector(form.selector),
            '`selector` will be auto-generated',
          ),
        ]
      : valid,
    form?.manualSelector
      ? [notSupported('spec.jobTemplate.spec.manualSelector', form.manualSelector, ['nil', 'false'])]
      : valid,
    nonNegative(spec.successfulJobsHistoryLimit, 'spec.successfulJobsHistoryLimit'),
    nonNegative(spec.failedJobsHistoryLimit, 'spec.failedJobsHistoryLimit'),
  )
}

/** Validates the length of the name, on create only: older names may be longer. */
const nameRules = ({ metadata: { name = '' } }: CronJob): readonly FieldError[] =>
  name.length > maxName ? [invalidValue('metadata.name', name, `must be no more than ${maxName} characters`)] : valid

// The path spec.spec is upstream's.
const zoneWarning =
  'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see ' +
  'https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details'

export const cronJobs = resource<CronJob>({
  group: 'batch',
  version: 'v1',
  kind: 'CronJob',
  plural: 'cronjobs',
  shortNames: ['cj'],
  categories: ['all'],
  scope: 'Namespaced',
  subresources: { status: true },
  generation: 'spec',
  defaults: [cronJobDefaults],
  prepare: {
    create: (cron) => {
      cron.status = {}
    },
  },
  validate: { create: (cron) => all(rules(cron), nameRules(cron)), update: (cron, old) => rules(cron, old.spec) },
  warnings: (cron, old) => [
    ...(old ? [] : podNameWarnings(cron.metadata.name)),
    ...(isChanged(cron, old) ? jobTemplateWarnings(cron.spec?.jobTemplate.spec, 'spec.jobTemplate.spec') : []),
    ...(old && cron.spec && hasZoneInSchedule(cron.spec) ? [zoneWarning] : []),
  ],
  columns: [
    name,
    column('Schedule', ({ spec }) => spec?.schedule ?? '', { description: 'When Jobs are created.' }),
    column('Timezone', ({ spec }) => spec?.timeZone ?? '<none>', {
      description: 'The time zone of the schedule.',
    }),
    column('Suspend', ({ spec }) => (spec?.suspend === undefined ? '<unset>' : spec.suspend ? 'True' : 'False'), {
      type: 'boolean',
      description: 'Whether it creates no Jobs for now.',
    }),
    column('Active', ({ status }) => status?.active?.length ?? 0, {
      type: 'integer',
      description: 'The number of running Jobs.',
    }),
    column(
      'Last Schedule',
      ({ status }) => (status?.lastScheduleTime ? { since: status.lastScheduleTime } : '<none>'),
      {
        description: 'How long ago a Job was scheduled.',
      },
    ),
    age,
    wide('Containers', ({ spec }) => containerNames(spec?.jobTemplate.spec?.template), {
      description: 'The names of its containers.',
    }),
    wide('Images', ({ spec }) => containerImages(spec?.jobTemplate.spec?.template), {
      description: 'The images of its containers.',
    }),
    wide('Selector', ({ spec }) => labelSelectorText(spec?.jobTemplate.spec?.selector), {
      description: 'The label selector of its pods.',
    }),
  ],
})
