/** CronJobs: Jobs at set times. */

import type { V1CronJob } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { labelSelectorText } from '../../machinery/selectors/label-selector.ts'
import { type FieldError, invalidValue, notSupported, required } from '../../machinery/validation/field-error.ts'
import { all, nonNegative, oneOf, valid } from '../../machinery/validation/field-rules.ts'
import { labelSelector } from '../../machinery/validation/internal-type.ts'
import { podNamesOf } from '../core/pod/index.ts'
import { containerImages, containerNames } from '../printing/containers.ts'
import { age, column, name, resource, wide } from '../resource.ts'
import { isChanged } from '../workload/template-warnings.ts'
import { parseCronSchedule } from './cron-schedule.ts'
import { jobForm, jobFormDefaults, jobFormWarnings } from './job/index.ts'

type CronJob = Model<V1CronJob>
type CronJobSpec = NonNullable<CronJob['spec']>

const schedulePath = 'spec.schedule'

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

/** A zone in the schedule itself (`TZ=UTC 0 * * * *`) was never meant to be: who has one may keep it. */
const namesZone = ({ schedule: text }: CronJobSpec): boolean => text?.includes('TZ') ?? false

function schedule(spec: CronJobSpec, old: CronJobSpec | undefined): readonly FieldError[] {
  const { schedule: text, timeZone } = spec
  if (!text) return [required(schedulePath)]
  const errors: FieldError[] = []
  try {
    parseCronSchedule(afterZone(text))
  } catch (error) {
    errors.push(invalidValue(schedulePath, text, error instanceof Error ? error.message : String(error)))
  }
  if (!namesZone(spec)) return errors
  if (!old || !namesZone(old))
    errors.push(invalidValue(schedulePath, text, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'))
  else if (timeZone !== undefined)
    errors.push(invalidValue(schedulePath, text, 'cannot use both timeZone field and TZ or CRON_TZ in schedule'))
  return errors
}

/** What follows the zone in a schedule. Throws an Error if there is no such zone. */
function afterZone(text: string): string {
  if (!/^(CRON_)?TZ=/.test(text)) return text
  const [first = '', ...rest] = text.split(' ')
  const zone = first.slice(first.indexOf('=') + 1)
  if (!isTimeZone(zone)) throw new Error(`provided bad location ${zone}: unknown time zone ${zone}`)
  return rest.join(' ').trim()
}

/** Whether this names a time zone as the IANA's files are called: offsets do not, nor names in other cases. */
function isTimeZone(zone: string): boolean {
  if (/^[+-]/.test(zone)) return false
  try {
    const canonical = new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone
    // Of an alias, which stands for another name, the case is not told.
    return canonical === zone || canonical.toLowerCase() !== zone.toLowerCase()
  } catch {
    return false
  }
}

/** One part of a time zone's name, between slashes. */
const zonePart = /^(?!-|\.\.?$)[A-Za-z._0-9+-]{1,14}$/

function timeZone(zone: string | undefined): readonly FieldError[] {
  if (zone === undefined) return valid
  const wrong = (detail: string): readonly FieldError[] => [invalidValue('spec.timeZone', zone, detail)]
  if (zone === '') return wrong('timeZone must be nil or non-empty string')
  if (zone.toLowerCase() === 'local')
    return wrong('timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones')
  return zone.split('/').every((part) => zonePart.test(part)) && isTimeZone(zone)
    ? valid
    : wrong(`unknown time zone ${zone}`)
}

function rules({ spec }: CronJob, old?: CronJobSpec): readonly FieldError[] {
  if (!spec) return valid
  const form = spec.jobTemplate.spec
  return all(
    schedule(spec, old),
    nonNegative(spec.startingDeadlineSeconds, 'spec.startingDeadlineSeconds'),
    old && old.timeZone === spec.timeZone ? valid : timeZone(spec.timeZone),
    oneOf(spec.concurrencyPolicy, 'spec.concurrencyPolicy', ['Allow', 'Forbid', 'Replace'], 'needed'),
    form ? jobForm(form, 'spec.jobTemplate.spec') : valid,
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

/** Names that were longer before there was a limit stay. */
const nameRules = ({ metadata: { name = '' } }: CronJob): readonly FieldError[] =>
  name.length > maxName ? [invalidValue('metadata.name', name, `must be no more than ${maxName} characters`)] : valid

// Upstream's path.
const zoneOfOld =
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
    ...(old ? [] : podNamesOf(cron.metadata.name)),
    ...(isChanged(cron, old) ? jobFormWarnings(cron.spec?.jobTemplate.spec, 'spec.jobTemplate.spec') : []),
    ...(old && cron.spec && namesZone(cron.spec) ? [zoneOfOld] : []),
  ],
  columns: [
    name,
    column('Schedule', ({ spec }) => spec?.schedule ?? '', { description: 'When it makes Jobs.' }),
    column('Timezone', ({ spec }) => spec?.timeZone ?? '<none>', {
      description: 'Where the times of its schedule hold.',
    }),
    column('Suspend', ({ spec }) => (spec?.suspend === undefined ? '<unset>' : spec.suspend ? 'True' : 'False'), {
      type: 'boolean',
      description: 'Whether it makes no Jobs for now.',
    }),
    column('Active', ({ status }) => status?.active?.length ?? 0, {
      type: 'integer',
      description: 'Jobs of it that run.',
    }),
    column(
      'Last Schedule',
      ({ status }) => (status?.lastScheduleTime ? { since: status.lastScheduleTime } : '<none>'),
      {
        description: 'How long ago it made a Job.',
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
      description: 'What the labels of its pods have to be.',
    }),
  ],
})
