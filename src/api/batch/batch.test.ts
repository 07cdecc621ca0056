import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../machinery/object.ts'
import type { Cell, ResourceDefinition } from '../resource.ts'
import { parseCronSchedule } from './cron-schedule.ts'
import { resources } from './index.ts'

const kind = (plural: string): ResourceDefinition =>
  resources.find((one) => one.plural === plural) as ResourceDefinition
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
const errorMessages = (errors: readonly { field: string; message: string }[] = []): string[] =>
  errors.map(({ field, message }) => `${field}: ${message}`)
function validationErrors(object: KubeObject): string[] {
  const { validate } = kind(plural(object))
  complete(object)
  return errorMessages([...(validate?.object?.(object) ?? []), ...(validate?.create?.(object) ?? [])])
}
const cells = (object: KubeObject): Cell[] => (kind(plural(object)).columns ?? []).map((column) => column.cell(object))

test('a Job gets default counts, a selector of its uid, and pod labels', () => {
  const { spec, metadata } = complete(job({ template: template({}, { labels: { a: 'b' } }) }))
  const { template: made, ...rest } = spec
  assert.deepEqual(rest, {
    completions: 1,
    parallelism: 1,
    backoffLimit: 6,
    completionMode: 'NonIndexed',
    suspend: false,
    manualSelector: false,
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

test('table rows match kubectl get', () => {
  const done = {
    startTime: '2024-01-01T00:00:00Z',
    completionTime: '2024-01-01T00:01:59Z',
    succeeded: 1,
    conditions: [{ type: 'Complete', status: 'True' }],
  }
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
  assert.deepEqual(
    cells(job({ parallelism: 4 }, { startTime: 'T', conditions: [{ type: 'Suspended', status: 'True' }] })).slice(1, 4),
    ['Suspended', '0/1 of 4', { since: 'T' }],
  )
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

test('invalid Jobs and CronJobs are rejected with the messages of upstream', () => {
  const policy = (...rules: object[]): object => ({ podFailurePolicy: { rules } })
  const exit = (more: object): object => ({ action: 'FailJob', onExitCodes: { operator: 'In', values: [42], ...more } })
  const indexedJob = { completionMode: 'Indexed', completions: 2, parallelism: 2 }
  const cases: readonly (readonly [KubeObject, readonly string[]])[] = [
    [job(), []],
    [
      job({ template: template({ restartPolicy: undefined }) }),
      ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    ],
    [
      job({ completionMode: 'Indexed', parallelism: 2 }),
      ['spec.completions: Required value: when completion mode is Indexed'],
    ],
    [
      job({ selector: { matchLabels: { a: 'b' } }, template: template({}, { labels: { a: 'b' } }) }),
      [
        'spec.selector: Invalid value: {"matchLabels":{"a":"b","batch.kubernetes.io/controller-uid":"u"}}: ' +
          '`selector` not auto-generated',
      ],
    ],
    [
      job({ template: template({}, { labels: { 'controller-uid': 'mine' } }) }),
      [
        'spec.template.metadata.labels[controller-uid]: Invalid value: ' +
          '{"batch.kubernetes.io/controller-uid":"u","batch.kubernetes.io/job-name":"j",' +
          '"controller-uid":"mine","job-name":"j"}: ' +
          "must be 'u'",
      ],
    ],
    [
      job({ ...policy(exit({ operator: 'Near' })) }),
      [
        'spec.podFailurePolicy.rules[0].onExitCodes.operator: Unsupported value: "Near": supported values: "In", ' +
          '"NotIn"',
      ],
    ],
    [
      job({ ...policy(exit({ values: [3, 1, 1] })) }),
      [
        'spec.podFailurePolicy.rules[0].onExitCodes.values[2]: Duplicate value: 1',
        'spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [3,1,1]: must be ordered',
      ],
    ],
    [
      job({ ...policy({ action: 'FailJob' }) }),
      ['spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required'],
    ],
    [
      job({ ...policy(exit({ operator: 'In', values: [1] })), podReplacementPolicy: 'TerminatingOrFailed' }),
      ['spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"'],
    ],
    [
      job({ podReplacementPolicy: 'Never' }),
      ['spec.podReplacementPolicy: Unsupported value: "Never": supported values: "Failed", "TerminatingOrFailed"'],
    ],
    [
      job({ ...policy({ ...exit({}), action: 'FailIndex' }) }),
      [
        'spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to ' +
          'be set',
      ],
    ],
    [
      job({ managedBy: 'me' }),
      ['spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")'],
    ],
    [job({ managedBy: `acme.io/${'x'.repeat(60)}` }), ['spec.managedBy: Too long: may not be more than 63 bytes']],
    [
      job({ maxFailedIndexes: 3, ...indexedJob }),
      [
        'spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified',
        'spec.maxFailedIndexes: Invalid value: 3: must be less than or equal to completions',
      ],
    ],
    [
      job({ ...indexedJob, completions: 100_001, parallelism: 10_001, backoffLimitPerIndex: 1 }),
      [
        'spec.maxFailedIndexes: Required value: must be specified when completions is above 100000',
        'spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when completions are above ' +
          '100000 and used with backoff limit per index',
      ],
    ],
    [
      job(indexedJob, {}, { name: 'x'.repeat(62) }),
      [
        `metadata.name: Invalid value: "${'x'.repeat(62)}": will not able to create pod with invalid DNS label: ` +
          `${'x'.repeat(62)}-1`,
      ],
    ],
    [
      job({ successPolicy: { rules: [{}] } }),
      [
        'spec.successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":null,"SucceededCount":null}]}: ' +
          'requires indexed completion mode',
      ],
    ],
    [
      job({ ...indexedJob, successPolicy: {} }),
      [
        'spec.successPolicy.rules: Required value: at least one rules must be specified when the successPolicy ' +
          'is specified',
      ],
    ],
    [
      job({
        ...indexedJob,
        successPolicy: {
          rules: [
            {},
            { succeededIndexes: '0-2' },
            { succeededCount: 3 },
            { succeededIndexes: '1,0' },
            { succeededIndexes: '1', succeededCount: 2 },
          ],
        },
      }),
      [
        'spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes must be ' +
          'specified',
        'spec.successPolicy.rules[1].succeededIndexes: Invalid value: "0-2": error parsing succeededIndexes: too ' +
          'large index: "2"',
        'spec.successPolicy.rules[2].succeededCount: Invalid value: 3: must be less than or equal to 2 (the ' +
          'number of specified completions)',
        'spec.successPolicy.rules[3].succeededIndexes: Invalid value: "1,0": error parsing succeededIndexes: ' +
          'non-increasing order, previous: 1, current: 0',
        'spec.successPolicy.rules[4].succeededCount: Invalid value: 2: must be less than or equal to 1 (the ' +
          'number of indexes in the specified succeededIndexes field)',
      ],
    ],
    [cron(), []],
    [
      cron({ schedule: 'every day' }),
      ['spec.schedule: Invalid value: "every day": expected exactly 5 fields, found 2: [every day]'],
    ],
    [
      cron({ timeZone: 'Mars/Olympus' }),
      ['spec.timeZone: Invalid value: "Mars/Olympus": unknown time zone Mars/Olympus'],
    ],
    [
      cron({ timeZone: 'Local' }),
      [
        'spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in ' +
          'https://www.iana.org/time-zones',
      ],
    ],
    [
      cron({ concurrencyPolicy: 'Perhaps' }),
      ['spec.concurrencyPolicy: Unsupported value: "Perhaps": supported values: "Allow", "Forbid", "Replace"'],
    ],
  ]
  for (const [object, expected] of cases) assert.deepEqual(validationErrors(object), expected)
})

test('a Job update may change counts, and scheduling fields until its pods have run', () => {
  const update = (now: object, before: object = {}, status: object = {}): string[] => {
    const old = { ...complete(job(before)), status }
    const changed = structuredClone({ ...old, spec: { ...old.spec, ...now } })
    return [
      ...new Set(
        errorMessages(kind('jobs').validate?.update?.(changed, old as KubeObject)).map(
          (line) => line.split(':')[0] ?? '',
        ),
      ),
    ]
  }
  assert.deepEqual(update({ parallelism: 5, backoffLimit: 3 }), [])
  assert.deepEqual(update({ completions: 5 }), ['spec.completions'])
  assert.deepEqual(
    update({ completions: 3, parallelism: 3 }, { completionMode: 'Indexed', completions: 2, parallelism: 2 }),
    [],
  )
  assert.deepEqual(update({ completions: undefined }, { completionMode: 'Indexed', completions: 2 }), [
    'spec.completions',
  ])
  const of = (more: object, metadata?: object): object => ({
    template: complete(job({ template: template(more, metadata) })).spec.template,
  })
  const containers = [{ name: 'c', image: 'app:1', resources: { requests: { cpu: '1' }, limits: { cpu: '2' } } }]
  const nodeAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }],
    },
  }
  const moved = of({ nodeSelector: { zone: 'a' } })
  const changes = [
    moved,
    of({ containers }),
    of({ affinity: { nodeAffinity } }),
    of({}, { labels: { a: 'b' }, annotations: { c: 'd' } }),
  ]
  const suspended = { startTime: 'T', conditions: [{ type: 'Suspended', status: 'True' }] }
  for (const change of changes) {
    assert.deepEqual(update(change, { suspend: true }), [])
    assert.deepEqual(update(change, { suspend: true }, suspended), [])
    assert.deepEqual(update({ ...change, suspend: false }, { suspend: true }, suspended), [])
    for (const [spec, status] of [
      [{}, {}],
      [{ suspend: false }, suspended],
      [{ suspend: true }, { startTime: 'T' }],
      [{ suspend: true }, { ...suspended, active: 1 }],
    ] as const)
      assert.deepEqual(update(change, spec, status), ['spec.template'])
  }
  assert.deepEqual(update(of({}), { suspend: true, template: template({ affinity: { nodeAffinity } }) }), [])
  for (const change of [
    of({ initContainers: containers }),
    of({ hostNetwork: true }),
    of({ affinity: { podAffinity: {} }, containers: [...containers, { name: 'd', image: 'app:1' }] }),
  ])
    assert.deepEqual(update(change, { suspend: true }, suspended).at(-1), 'spec.template.spec')
})

test('a CronJob update may keep values that are invalid on create', () => {
  const update = (now: object, before: object = {}): string[] =>
    errorMessages(kind('cronjobs').validate?.update?.(complete(cron(now)), complete(cron(before))))
  const create = (spec: object): string[] => errorMessages(kind('cronjobs').validate?.create?.(complete(cron(spec))))
  const [zoned, both] = [{ schedule: 'TZ=UTC 0 * * * *' }, { schedule: 'CRON_TZ=UTC @hourly', timeZone: 'UTC' }]
  const instead = 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'
  assert.deepEqual(create(zoned), [`spec.schedule: Invalid value: "${zoned.schedule}": ${instead}`])
  assert.deepEqual(create(both), [`spec.schedule: Invalid value: "${both.schedule}": ${instead}`])
  assert.deepEqual(update(zoned), [`spec.schedule: Invalid value: "${zoned.schedule}": ${instead}`])
  assert.deepEqual(update({ schedule: 'TZ=Mars/Olympus 0 * * * *' }, zoned), [
    'spec.schedule: Invalid value: "TZ=Mars/Olympus 0 * * * *": provided bad location Mars/Olympus: unknown time ' +
      'zone Mars/Olympus',
  ])
  assert.deepEqual(update(zoned, zoned), [])
  assert.deepEqual(update(both, zoned), [
    `spec.schedule: Invalid value: "${both.schedule}": cannot use both timeZone field and TZ or CRON_TZ in schedule`,
  ])
  assert.deepEqual(update({ timeZone: 'Mars/Olympus' }, { timeZone: 'Mars/Olympus' }), [])
  const [long, old] = [complete(cron()), complete(cron())]
  long.metadata.name = 'x'.repeat(53)
  assert.deepEqual(errorMessages(kind('cronjobs').validate?.create?.(long)), [
    `metadata.name: Invalid value: "${'x'.repeat(53)}": must be no more than 52 characters`,
  ])
  assert.deepEqual(errorMessages(kind('cronjobs').validate?.update?.(long, old)), [])
  assert.deepEqual(kind('cronjobs').warnings?.(complete(cron(zoned)), complete(cron(zoned))), [
    'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see ' +
      'https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details',
  ])
})

test('time zones have the exact names of their tz database files', () => {
  for (const zone of [
    'UTC',
    'Europe/Berlin',
    'Asia/Kolkata',
    'US/Pacific',
    'Etc/GMT+5',
    'America/Argentina/ComodRivadavia',
  ])
    assert.deepEqual(errorMessages(kind('cronjobs').validate?.create?.(complete(cron({ timeZone: zone })))), [], zone)
  for (const zone of [
    'utc',
    'europe/berlin',
    '+01:00',
    '+01',
    ' Europe/Berlin',
    '/Europe',
    'Europe/',
    '../Europe',
    'Europe/-Berlin',
    'Continent/AVeryLongCityName',
  ])
    assert.deepEqual(errorMessages(kind('cronjobs').validate?.create?.(complete(cron({ timeZone: zone })))), [
      `spec.timeZone: Invalid value: "${zone}": unknown time zone ${zone}`,
    ])
})

test('a Job status must be consistent, and must not go back', () => {
  const statusErrors = (status: object, before: object = {}, spec: object = {}): string[] => {
    const old = { ...complete(job(spec)), status: before }
    return errorMessages(kind('jobs').validate?.status?.({ ...old, status } as KubeObject, old as KubeObject))
  }
  const conditions = (...types: string[]): object => ({ conditions: types.map((type) => ({ type, status: 'True' })) })
  const [one, two] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z']
  const done = { startTime: one, completionTime: two, ...conditions('SuccessCriteriaMet', 'Complete') }
  const indexedJob = { completionMode: 'Indexed', completions: 3, parallelism: 2, backoffLimitPerIndex: 1 }
  const cases: readonly (readonly [string[], string[]])[] = [
    [statusErrors(done), []],
    [statusErrors({ startTime: one, ...conditions('FailureTarget', 'Failed') }), []],
    [
      statusErrors({ failed: -1 }),
      [
        'status.failed: Invalid value: -1: must be greater than or equal to 0',
        'status.failed: Invalid value: -1: cannot decrease the failed counter',
      ],
    ],
    [
      statusErrors({ failed: 1 }, { failed: 2 }),
      ['status.failed: Invalid value: 1: cannot decrease the failed counter'],
    ],
    [
      statusErrors({
        ...conditions('Complete'),
        active: 1,
        ready: 2,
        terminating: 1,
        uncountedTerminatedPods: { failed: ['a', 'a', ''] },
      }),
      [
        'status.uncountedTerminatedPods.failed[1]: Duplicate value: "a"',
        'status.uncountedTerminatedPods.failed[2]: Invalid value: "": must not be empty',
        'status.completionTime: Required value: completionTime is required for Complete jobs',
        'status.conditions: Invalid value: cannot set Complete=True condition without the ' +
          'SuccessCriteriaMet=true condition',
        'status.active: Invalid value: 1: active>0 is invalid for finished job',
        'status.startTime: Required value: startTime is required for finished job',
        'status.uncountedTerminatedPods: Invalid value: {"Succeeded":null,"Failed":["a","a",""]}: ' +
          'uncountedTerminatedPods needs to be empty for finished job',
        'status.terminating: Invalid value: 1: terminating>0 is invalid for finished job',
        'status.ready: Invalid value: 2: cannot set more ready pods than active',
      ],
    ],
    [
      statusErrors({ ...done, ...conditions('SuccessCriteriaMet', 'Complete', 'Failed', 'FailureTarget') }),
      [
        'status.conditions: Invalid value: cannot set Complete=True and Failed=true conditions',
        'status.conditions: Invalid value: cannot set Complete=True and FailureTarget=true conditions',
        'status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and Failed=true conditions',
        'status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and FailureTarget=true conditions',
      ],
    ],
    [
      statusErrors({ startTime: one, ...conditions('Failed') }),
      ['status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition'],
    ],
    [
      statusErrors({ startTime: two, completionTime: one }),
      [
        `status.completionTime: Invalid value: "${one}": cannot set completionTime when there is no ` +
          'Complete=True condition',
        `status.completionTime: Invalid value: "${one}": completionTime cannot be set before startTime`,
      ],
    ],
    [
      statusErrors({ ...done, completionTime: one }, done),
      [`status.completionTime: Invalid value: "${one}": completionTime cannot be mutated`],
    ],
    [
      statusErrors({ startTime: one, completionTime: two, ...conditions('SuccessCriteriaMet') }, done),
      [
        `status.completionTime: Invalid value: "${two}": cannot set completionTime when there is no ` +
          'Complete=True condition',
        'status.conditions: Invalid value: cannot disable the terminal Complete=True condition',
      ],
    ],
    [
      statusErrors({ startTime: two }, { startTime: one }),
      ['status.startTime: Required value: startTime cannot be removed for unsuspended job'],
    ],
    [statusErrors({ startTime: two }, { startTime: one }, { suspend: true }), []],
    [
      statusErrors(
        { startTime: two, conditions: [{ type: 'Suspended', status: 'False' }] },
        { startTime: one, ...conditions('Suspended') },
      ),
      [],
    ],
    [statusErrors({}, { succeeded: 1 }), ['status.succeeded: Invalid value: 0: cannot decrease the succeeded counter']],
    [statusErrors({}, { succeeded: 1 }, { ...indexedJob, completions: 2 }), []],
    [
      statusErrors({ completedIndexes: '0' }),
      [
        'status.completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed ' +
          'completion mode',
      ],
    ],
    [
      statusErrors({ failedIndexes: '' }),
      ['status.failedIndexes: Invalid value: "": cannot set non-null failedIndexes when backoffLimitPerIndex is null'],
    ],
    [statusErrors({ completedIndexes: '0-1', failedIndexes: '2' }, {}, indexedJob), []],
    [
      statusErrors({ completedIndexes: '0-1', failedIndexes: '1-3' }, {}, indexedJob),
      ['status.failedIndexes: Invalid value: "1-3": error parsing failedIndexes: too large index: "3"'],
    ],
    [
      statusErrors({ completedIndexes: '0,1', failedIndexes: '1-2' }, {}, indexedJob),
      ['status.failedIndexes: Invalid value: "1-2": failedIndexes and completedIndexes overlap at index: 1'],
    ],
    [statusErrors({ completedIndexes: '0-9' }, { completedIndexes: '0-9' }, indexedJob), []],
  ]
  for (const [found, expected] of cases) assert.deepEqual(found, expected)
})

test('cron schedules are parsed as by robfig/cron', () => {
  const schedule = parseCronSchedule('*/20 0-12/4 1,15 JAN-mar sun')
  assert.ok('minutes' in schedule)
  assert.deepEqual(
    [
      [...schedule.minutes],
      [...schedule.hours],
      [...schedule.daysOfMonth],
      [...schedule.months],
      [...schedule.daysOfWeek],
    ],
    [[0, 20, 40], [0, 4, 8, 12], [1, 15], [1, 2, 3], [0]],
  )
  assert.deepEqual(parseCronSchedule('@every 90s'), { everyMs: 90_000 })
  assert.deepEqual(parseCronSchedule('@hourly'), parseCronSchedule('0 * * * *'))
  for (const text of [
    '',
    '* * * *',
    '* * * * * *',
    '60 * * * *',
    '* * 0 * *',
    '5-1 * * * *',
    '@sometimes',
    '1-2-3 * * * *',
    '*/0 * * * *',
    'x * * * *',
  ])
    assert.throws(() => parseCronSchedule(text), text)
})
