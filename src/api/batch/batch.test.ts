import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../machinery/object.ts'
import { cells, cron, job, template, validationErrors } from './batch.fixture.ts'

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
