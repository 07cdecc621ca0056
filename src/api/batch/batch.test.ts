import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../machinery/object.ts'
import type { Cell, ResourceDefinition } from '../resource.ts'
import { parseCronSchedule } from './cron-schedule.ts'
import { resources } from './index.ts'

const kind = (plural: string): ResourceDefinition => resources.find((one) => one.plural === plural) as ResourceDefinition
const template = (spec: object = {}, metadata?: object): object => ({
  metadata,
  spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'app:1' }], ...spec },
})
const job = (spec: object = {}, status: object = {}, metadata: object = {}): KubeObject =>
  structuredClone({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'j', uid: 'u', ...metadata },
    spec: { template: template(), ...spec },
    status,
  }) as KubeObject
const cron = (spec: object = {}, status: object = {}): KubeObject =>
  structuredClone({
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'c' },
    spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: { template: template() } }, ...spec },
    status,
  }) as KubeObject
const plural = (object: KubeObject): string => (object.kind === 'Job' ? 'jobs' : 'cronjobs')
const complete = (object: KubeObject): KubeObject & { spec: Record<string, unknown> } => {
  const { defaults, prepare } = kind(plural(object))
  for (const entry of defaults ?? []) if (typeof entry === 'function') entry(object)
  prepare?.create?.(object, { name: 'me', groups: [] })
  return object as KubeObject & { spec: Record<string, unknown> }
}
const told = (errors: readonly { field: string; message: string }[] = []): string[] => errors.map(({ field, message }) => `${field}: ${message}`)
const wrong = (object: KubeObject): string[] => told(kind(plural(object)).validate?.object?.(complete(object)))
const cells = (object: KubeObject): Cell[] => (kind(plural(object)).columns ?? []).map((column) => column.cell(object))

test('a Job gets numbers, a selector by its uid, and labels for its pods', () => {
  const { spec, metadata } = complete(job({ template: template({}, { labels: { a: 'b' } }) }))
  const { template: made, ...rest } = spec
  assert.deepEqual(rest, {
    completions: 1,
    parallelism: 1,
    backoffLimit: 6,
    completionMode: 'NonIndexed',
    suspend: false,
    podReplacementPolicy: 'TerminatingOrFailed',
    selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u' } },
  })
  assert.deepEqual((made as { metadata: { labels: object } }).metadata.labels, {
    a: 'b',
    'batch.kubernetes.io/controller-uid': 'u',
    'batch.kubernetes.io/job-name': 'j',
    'controller-uid': 'u',
    'job-name': 'j',
  })
  assert.deepEqual(metadata.labels, { a: 'b' })
  assert.equal(complete(job({ parallelism: 3 })).spec.completions, undefined)
})

test('tables show what kubectl get shows', () => {
  const done = { startTime: '2024-01-01T00:00:00Z', completionTime: '2024-01-01T00:01:59Z', succeeded: 1, conditions: [{ type: 'Complete', status: 'True' }] }
  assert.deepEqual(cells(job({ completions: 3, selector: { matchLabels: { job: 'many' } } })), [
    'j',
    'Running',
    '0/3',
    '',
    { since: undefined },
    'c',
    'app:1',
    'job=many',
  ])
  assert.deepEqual(cells(job({ completions: 1 }, done)).slice(1, 4), ['Complete', '1/1', '119s'])
  assert.deepEqual(cells(job({ parallelism: 4 }, { startTime: 'T', conditions: [{ type: 'Suspended', status: 'True' }] })).slice(1, 4), [
    'Suspended',
    '0/1 of 4',
    { since: 'T' },
  ])
  assert.deepEqual(cells(cron({ suspend: true }, { lastScheduleTime: 'T', active: [{}] })), [
    'c',
    '0 0 1 1 *',
    '<none>',
    'True',
    1,
    { since: 'T' },
    { since: undefined },
    'c',
    'app:1',
    '<none>',
  ])
})

test('what is wrong is told in the words of the API', () => {
  const policy = (...rules: object[]): object => ({ podFailurePolicy: { rules } })
  const exit = (more: object): object => ({ action: 'FailJob', onExitCodes: { operator: 'In', values: [42], ...more } })
  const cases: readonly (readonly [KubeObject, readonly string[]])[] = [
    [job(), []],
    [job({ template: template({ restartPolicy: undefined }) }), ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"']],
    [job({ completionMode: 'Indexed', parallelism: 2 }), ['spec.completions: Required value: when completion mode is Indexed']],
    [
      job({ selector: { matchLabels: { a: 'b' } }, template: template({}, { labels: { a: 'b' } }) }),
      ['spec.selector: Invalid value: {"matchLabels":{"batch.kubernetes.io/controller-uid":"u","a":"b"}}: `selector` not auto-generated'],
    ],
    [
      job({ template: template({}, { labels: { 'controller-uid': 'mine' } }) }),
      [`spec.template.metadata.labels[controller-uid]: Invalid value: "mine": must be 'u'`],
    ],
    [
      job({ ...policy(exit({ operator: 'Near' })) }),
      ['spec.podFailurePolicy.rules[0].onExitCodes.operator: Unsupported value: "Near": supported values: "In", "NotIn"'],
    ],
    [
      job({ ...policy(exit({ values: [3, 1, 1] })) }),
      [
        'spec.podFailurePolicy.rules[0].onExitCodes.values[2]: Duplicate value: 1',
        'spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [3,1,1]: must be ordered',
      ],
    ],
    [cron(), []],
    [cron({ schedule: 'every day' }), ['spec.schedule: Invalid value: "every day": expected exactly 5 fields, found 2: [every day]']],
    [cron({ timeZone: 'Mars/Olympus' }), ['spec.timeZone: Invalid value: "Mars/Olympus": unknown time zone Mars/Olympus']],
    [
      cron({ timeZone: 'Local' }),
      ['spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'],
    ],
    [cron({ concurrencyPolicy: 'Perhaps' }), ['spec.concurrencyPolicy: Unsupported value: "Perhaps": supported values: "Allow", "Forbid", "Replace"']],
  ]
  for (const [object, expected] of cases) assert.deepEqual(wrong(object), expected)
})

test('of a Job that exists numbers may change, and where it runs until it has run', () => {
  const update = (now: object, before: object = {}, status: object = {}): string[] => {
    const old = { ...complete(job(before)), status }
    const changed = structuredClone({ ...old, spec: { ...old.spec, ...now } })
    return [...new Set(told(kind('jobs').validate?.update?.(changed, old as KubeObject)).map((line) => line.split(':')[0] ?? ''))]
  }
  assert.deepEqual(update({ parallelism: 5, backoffLimit: 3 }), [])
  assert.deepEqual(update({ completions: 5 }), ['spec.completions'])
  assert.deepEqual(update({ completions: 3, parallelism: 3 }, { completionMode: 'Indexed', completions: 2, parallelism: 2 }), [])
  const moved = { template: complete(job({ template: template({ nodeSelector: { zone: 'a' } }) })).spec.template }
  assert.deepEqual(update(moved, { suspend: true }), [])
  assert.deepEqual(update(moved, { suspend: true }, { startTime: 'T' }), ['spec.template'])
  assert.deepEqual(update(moved), ['spec.template'])
})

test('schedules are read as cron reads them', () => {
  const schedule = parseCronSchedule('*/20 0-12/4 1,15 JAN-mar sun')
  assert.ok('minutes' in schedule)
  assert.deepEqual(
    [[...schedule.minutes], [...schedule.hours], [...schedule.daysOfMonth], [...schedule.months], [...schedule.daysOfWeek]],
    [[0, 20, 40], [0, 4, 8, 12], [1, 15], [1, 2, 3], [0]],
  )
  assert.deepEqual(parseCronSchedule('@every 90s'), { everyMs: 90_000 })
  assert.deepEqual(parseCronSchedule('@hourly'), parseCronSchedule('0 * * * *'))
  for (const text of ['', '* * * *', '* * * * * *', '60 * * * *', '* * 0 * *', '5-1 * * * *', '@sometimes', '1-2-3 * * * *', '*/0 * * * *', 'x * * * *'])
    assert.throws(() => parseCronSchedule(text), text)
})
