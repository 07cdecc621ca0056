import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../../machinery/object.ts'
import { errorMessages, job, kind, prepared, template } from '../batch.fixture.ts'

test('a Job gets default counts, a selector of its uid, and pod labels', () => {
  const { spec, metadata } = prepared(job({ template: template({}, { labels: { a: 'b' } }) }))
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
  assert.equal(prepared(job({ parallelism: 3 })).spec.completions, undefined)
})

test('a Job update may change counts, and scheduling fields until its pods have run', () => {
  const update = (now: object, before: object = {}, status: object = {}): string[] => {
    const old = { ...prepared(job(before)), status }
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
    template: prepared(job({ template: template(more, metadata) })).spec.template,
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

test('a Job status must be consistent, and must not go back', () => {
  const statusErrors = (status: object, before: object = {}, spec: object = {}): string[] => {
    const old = { ...prepared(job(spec)), status: before }
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
