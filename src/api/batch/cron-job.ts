/** CronJobs: Jobs at set times. */
import type { V1CronJob } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { labelSelectorText } from '../../machinery/selectors/label-selector.ts'
import { type FieldError, invalidValue, notSupported, required } from '../../machinery/validation/field-error.ts'
import { all, nonNegative, oneOf, valid } from '../../machinery/validation/field-rules.ts'
import { podNamesOf } from '../core/pod/index.ts'
import { containerImages, containerNames } from '../printing/containers.ts'
import { age, column, name, resource, wide } from '../resource.ts'
import { isChanged } from '../workload/template-warnings.ts'
import { parseCronSchedule } from './cron-schedule.ts'
import { jobForm, jobFormDefaults, jobFormWarnings } from './job/index.ts'

type CronJob = Model<V1CronJob>
type CronJobSpec = NonNullable<CronJob['spec']>

/** The names of its Jobs are eleven characters longer. */
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
    if (spec.jobTemplate.spec) jobFormDefaults(spec.jobTemplate.spec)
  }
  cron.status ??= {}
}

function schedule({ schedule: text, timeZone }: CronJobSpec): readonly FieldError[] {
  const path = 'spec.schedule'
  if (!text) return [required(path)]
  try {
    if (/TZ=/.test(text)) {
      return [
        invalidValue(
          path,
          text,
          timeZone === undefined
            ? 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'
            : 'cannot use both timeZone field and TZ or CRON_TZ in schedule',
        ),
      ]
    }
    parseCronSchedule(text)
    return valid
  } catch (error) {
    return [invalidValue(path, text, error instanceof Error ? error.message : String(error))]
  }
}

function timeZone(zone: string | undefined): readonly FieldError[] {
  const path = 'spec.timeZone'
  if (zone === undefined) return valid
  if (zone === '') return [invalidValue(path, zone, 'timeZone must be nil or non-empty string')]
  if (zone.toLowerCase() === 'local') return [invalidValue(path, zone, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones')]
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return valid
  } catch {
    return [invalidValue(path, zone, `unknown time zone ${zone}`)]
  }
}

function rules({ metadata, spec }: CronJob): readonly FieldError[] {
  if (!spec) return valid
  const form = spec.jobTemplate.spec
  return all(
    schedule(spec),
    nonNegative(spec.startingDeadlineSeconds, 'spec.startingDeadlineSeconds'),
    timeZone(spec.timeZone),
    oneOf(spec.concurrencyPolicy, 'spec.concurrencyPolicy', ['Allow', 'Forbid', 'Replace'], 'needed'),
    form ? jobForm(form, 'spec.jobTemplate.spec') : valid,
    form?.selector ? [invalidValue('spec.jobTemplate.spec.selector', form.selector, '`selector` will be auto-generated')] : valid,
    form?.manualSelector ? [notSupported('spec.jobTemplate.spec.manualSelector', form.manualSelector, ['nil', 'false'])] : valid,
    nonNegative(spec.successfulJobsHistoryLimit, 'spec.successfulJobsHistoryLimit'),
    nonNegative(spec.failedJobsHistoryLimit, 'spec.failedJobsHistoryLimit'),
    (metadata.name?.length ?? 0) > maxName ? [invalidValue('metadata.name', metadata.name, `must be no more than ${maxName} characters`)] : valid,
  )
}

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
  validate: { object: rules },
  warnings: (cron, old) => [
    ...(old ? [] : podNamesOf(cron.metadata.name)),
    ...(isChanged(cron, old) ? jobFormWarnings(cron.spec?.jobTemplate.spec, 'spec.jobTemplate.spec') : []),
  ],
  columns: [
    name,
    column('Schedule', ({ spec }) => spec?.schedule ?? '', { description: 'When it makes Jobs.' }),
    column('Timezone', ({ spec }) => spec?.timeZone ?? '<none>', { description: 'Where the times of its schedule hold.' }),
    column('Suspend', ({ spec }) => (spec?.suspend === undefined ? '<unset>' : spec.suspend ? 'True' : 'False'), {
      type: 'boolean',
      description: 'Whether it makes no Jobs for now.',
    }),
    column('Active', ({ status }) => status?.active?.length ?? 0, { type: 'integer', description: 'Jobs of it that run.' }),
    column('Last Schedule', ({ status }) => (status?.lastScheduleTime ? { since: status.lastScheduleTime } : '<none>'), {
      description: 'How long ago it made a Job.',
    }),
    age,
    wide('Containers', ({ spec }) => containerNames(spec?.jobTemplate.spec?.template), { description: 'The names of its containers.' }),
    wide('Images', ({ spec }) => containerImages(spec?.jobTemplate.spec?.template), { description: 'The images of its containers.' }),
    wide('Selector', ({ spec }) => labelSelectorText(spec?.jobTemplate.spec?.selector), { description: 'What the labels of its pods have to be.' }),
  ],
})
