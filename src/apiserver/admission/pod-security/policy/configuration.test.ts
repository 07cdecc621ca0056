import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podSecurityConfiguration } from './configuration.ts'
import { standardText } from './policy.ts'

const head = { apiVersion: 'pod-security.admission.config.k8s.io/v1', kind: 'PodSecurityConfiguration' }

test('without configuration everything is privileged and nothing is exempt', () => {
  const { defaults, exempt } = podSecurityConfiguration(undefined)
  assert.deepEqual(Object.values(defaults).map(standardText), [
    'privileged:latest',
    'privileged:latest',
    'privileged:latest',
  ])
  assert.equal(exempt.namespaces.size + exempt.usernames.size + exempt.runtimeClasses.size, 0)
})

test('the configuration sets defaults and exemptions', () => {
  const { defaults, exempt } = podSecurityConfiguration({
    ...head,
    defaults: { enforce: 'baseline', 'enforce-version': 'v1.30', warn: 'restricted' },
    exemptions: { usernames: ['u'], namespaces: ['kube-system'], runtimeClasses: ['kata'] },
  })
  assert.equal(standardText(defaults.enforce), 'baseline:v1.30')
  assert.equal(standardText(defaults.warn), 'restricted:latest')
  assert.ok(exempt.usernames.has('u') && exempt.namespaces.has('kube-system') && exempt.runtimeClasses.has('kata'))
})

const wrong: readonly (readonly [string, object, string])[] = [
  ['another kind', { kind: 'Pod', apiVersion: 'v1' }, 'no kind "Pod" is registered for version "v1"'],
  [
    'an unknown level',
    { ...head, defaults: { enforce: 'low' } },
    'defaults.enforce: Invalid value: "low": must be one of privileged, baseline, restricted',
  ],
  [
    'an invalid version',
    { ...head, defaults: { 'warn-version': '1.2' } },
    'defaults.warn-version: Invalid value: "1.2": must be "latest" or "v1.x"',
  ],
  [
    'an unknown field',
    { ...head, defaults: { enforced: 'low' } },
    'strict decoding error: unknown field "defaults.enforced"',
  ],
  ['an empty user name', { ...head, exemptions: { usernames: [''] } }, 'exemptions.usernames[0]: Required value'],
  [
    'a namespace twice',
    { ...head, exemptions: { namespaces: ['a', 'a'] } },
    'exemptions.namespaces[1]: Duplicate value: "a"',
  ],
  [
    'an invalid namespace name',
    { ...head, exemptions: { namespaces: ['A_b'] } },
    'exemptions.namespaces[0]: Invalid value: "A_b"',
  ],
]
for (const [what, given, says] of wrong) {
  test(`${what} is rejected`, () => {
    assert.throws(
      () => podSecurityConfiguration(given),
      (error: Error) => error.message.includes(says) && error.message.includes('--admission-control-config-file'),
    )
  })
}
