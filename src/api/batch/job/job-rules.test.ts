import assert from 'node:assert/strict'
import test from 'node:test'
import type { JobSpec } from './failure-policy.ts'
import { type Job, jobRules, validateJobSpec } from './rules.ts'

const template = {
  spec: {
    restartPolicy: 'Never',
    containers: [{ name: 'c', image: 'i', imagePullPolicy: 'Always', terminationMessagePolicy: 'File' }],
    dnsPolicy: 'ClusterFirst',
  },
}
const form = (spec: object): JobSpec =>
  ({ parallelism: 1, completions: 5, completionMode: 'Indexed', template, ...spec }) as unknown as JobSpec
const wrong = (spec: object): string[] =>
  validateJobSpec(form(spec), 'spec').map(({ field, message }) => `${field}: ${message}`)

test('maxFailedIndexes and backoffLimitPerIndex of an indexed Job are validated', () => {
  assert.deepEqual(wrong({}), [])
  assert.deepEqual(wrong({ maxFailedIndexes: 6 }), [
    'spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified',
    'spec.maxFailedIndexes: Invalid value: 6: must be less than or equal to completions',
  ])
  const many = { completions: 100_001, parallelism: 10_001, backoffLimitPerIndex: 1 }
  const together = 'when completions are above 100000 and used with backoff limit per index'
  assert.deepEqual(wrong(many), [
    'spec.maxFailedIndexes: Required value: must be specified when completions is above 100000',
    `spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 ${together}`,
  ])
  assert.deepEqual(wrong({ ...many, parallelism: 1, maxFailedIndexes: 10_001 }), [
    `spec.maxFailedIndexes: Invalid value: 10001: must be less than or equal to 10000 ${together}`,
  ])
})

test('successPolicy rules name indexes below completions', () => {
  const rule = (one: object): string[] =>
    wrong({ successPolicy: { rules: [one] } }).map((line) => line.replace('spec.successPolicy.rules', ''))
  assert.deepEqual(wrong({ successPolicy: { rules: [] } }), [
    'spec.successPolicy.rules: Required value: at least one rules must be specified when the successPolicy is ' +
      'specified',
  ])
  assert.deepEqual(rule({}), [
    '[0]: Required value: at least one of succeededCount or succeededIndexes must be specified',
  ])
  assert.deepEqual(rule({ succeededIndexes: '0,2-4', succeededCount: 4 }), [])
  assert.deepEqual(rule({ succeededIndexes: '0-1', succeededCount: 3 }), [
    '[0].succeededCount: Invalid value: 3: must be less than or equal to 2 (the number of indexes in the ' +
      'specified succeededIndexes field)',
  ])
  for (const [text, why] of [
    ['5', 'too large index: "5"'],
    ['a', 'cannot convert string to integer for index: "a"'],
    ['2,1', 'non-increasing order, previous: 2, current: 1'],
    ['1-1', 'non-increasing order, previous: 1, current: 1'],
    [
      '1-2-3',
      'the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated ' +
        "by '-'",
    ],
  ] as const)
    assert.deepEqual(rule({ succeededIndexes: text }), [
      `[0].succeededIndexes: Invalid value: "${text}": error parsing succeededIndexes: ${why}`,
    ])
  assert.match(
    wrong({ completionMode: 'NonIndexed', successPolicy: { rules: [{ succeededCount: 1 }] } })[0] ?? '',
    /requires indexed completion mode$/,
  )
})

test('podFailurePolicy must match the other fields of the Job', () => {
  const policy = (rule: object, more: object = {}): string[] => wrong({ podFailurePolicy: { rules: [rule] }, ...more })
  assert.deepEqual(policy({ action: 'FailIndex', onPodConditions: [{ type: 'A', status: 'True' }] }), [
    'spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set',
  ])
  assert.deepEqual(policy({ action: 'Ignore' }), [
    'spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required',
  ])
  assert.deepEqual(
    policy(
      { action: 'Ignore', onPodConditions: [{ type: 'A', status: 'True' }] },
      { podReplacementPolicy: 'TerminatingOrFailed' },
    ),
    ['spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"'],
  )
  assert.deepEqual(wrong({ managedBy: 'x' }), [
    'spec.managedBy: Invalid value: "x": must be a domain-prefixed path (such as "acme.io/foo")',
  ])
})

test("the host names of an indexed Job's pods must be DNS labels", () => {
  const name = 'j'.repeat(62)
  const job = { metadata: { name }, spec: form({ completions: 1 }) } as unknown as Job
  assert.ok(
    jobRules(job).some(
      ({ field, message }) =>
        field === 'metadata.name' && message.endsWith(`will not able to create pod with invalid DNS label: ${name}-0`),
    ),
  )
})
