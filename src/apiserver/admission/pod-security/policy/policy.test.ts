import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Policy, readPolicy, standardText } from './policy.ts'

const privileged = { level: 'privileged', version: 'latest' } as const
const defaults: Policy = { enforce: privileged, audit: privileged, warn: privileged }
const key = (name: string) => `pod-security.kubernetes.io/${name}`
const standards = ({ enforce, audit, warn }: Policy) => [enforce, audit, warn].map(standardText)

test('missing labels mean the default', () => {
  assert.deepEqual(readPolicy(undefined, defaults), { policy: defaults, faults: [] })
  const { policy, faults } = readPolicy(
    { [key('enforce')]: 'baseline', [key('warn')]: 'restricted', [key('warn-version')]: 'v1.28' },
    defaults,
  )
  assert.deepEqual(standards(policy), ['baseline:latest', 'privileged:latest', 'restricted:v1.28'])
  assert.deepEqual(faults, [])
})

test('the enforced level is warned of too, unless the namespace has a warn label', () => {
  const cases: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
    [{ enforce: 'baseline' }, 'baseline:latest'],
    [{ enforce: 'baseline', 'enforce-version': 'v1.22' }, 'baseline:v1.22'],
    [{ enforce: 'baseline', 'enforce-version': 'v1.22', 'warn-version': 'latest' }, 'baseline:latest'],
    [{ enforce: 'baseline', 'warn-version': 'v1.23' }, 'baseline:v1.23'],
    [{ enforce: 'baseline', warn: 'restricted' }, 'restricted:latest'],
    [{ enforce: 'baseline', warn: 'privileged' }, 'privileged:latest'],
    [{ enforce: 'baseline', warn: 'foo' }, 'privileged:latest'],
    [{ enforce: 'foo' }, 'privileged:latest'],
    [{ 'enforce-version': 'v1.22' }, 'privileged:latest'],
  ]
  const read = (labels: Readonly<Record<string, string>>, among: Policy) =>
    standardText(
      readPolicy(Object.fromEntries(Object.entries(labels).map(([name, value]) => [key(name), value])), among).policy
        .warn,
    )
  for (const [labels, expected] of cases) assert.equal(read(labels, defaults), expected, JSON.stringify(labels))
  // The default level of warnings may already be stricter.
  const strict = { level: 'restricted', version: 'latest' } as const
  assert.equal(read({ enforce: 'baseline' }, { ...defaults, warn: strict }), 'restricted:latest')
  assert.equal(read({ 'enforce-version': 'v1.22' }, { ...defaults, enforce: strict }), 'privileged:latest')
})

test('an unknown level is enforced as restricted, and neither audited nor warned of', () => {
  const { policy, faults } = readPolicy(
    { [key('enforce')]: 'strict', [key('audit')]: 'x', [key('warn')]: 'Baseline', [key('enforce-version')]: 'v1.07' },
    defaults,
  )
  assert.deepEqual(standards(policy), ['restricted:latest', 'privileged:latest', 'privileged:latest'])
  assert.deepEqual(
    faults.map(({ field, message }) => `${field}: ${message}`),
    [
      'metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "strict": must be one of privileged, ' +
        'baseline, restricted',
      'metadata.labels[pod-security.kubernetes.io/enforce-version]: Invalid value: "v1.07": must be "latest" or "v1.x"',
      'metadata.labels[pod-security.kubernetes.io/audit]: Invalid value: "x": must be one of privileged, ' +
        'baseline, restricted',
      'metadata.labels[pod-security.kubernetes.io/warn]: Invalid value: "Baseline": must be one of privileged, ' +
        'baseline, restricted',
    ],
  )
})
