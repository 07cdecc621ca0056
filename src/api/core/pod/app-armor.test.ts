import assert from 'node:assert/strict'
import test from 'node:test'
import { appArmorWarnings, applyAppArmorAnnotations } from './app-armor.ts'
import type { Pod } from './model.ts'
import { podWarnings } from './warnings/index.ts'

const key = (name: string): string => `container.apparmor.security.beta.kubernetes.io/${name}`
const deprecated = (name: string): string =>
  `metadata.annotations[${key(name)}]: deprecated since v1.30; use the "appArmorProfile" field instead`
const pod = (annotations: Record<string, string>, spec: object = {}): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', annotations },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  }) as unknown as Pod
const applied = (annotation: string, spec: object = {}): readonly [profile: unknown, warnings: readonly string[]] => {
  const made = pod({ [key('c')]: annotation }, spec)
  applyAppArmorAnnotations(made)
  return [made.spec?.containers[0]?.securityContext?.appArmorProfile, appArmorWarnings(made)]
}

test('annotations about AppArmor become fields of new pods', () => {
  const [unconfined, runtime] = [{ type: 'Unconfined' }, { type: 'RuntimeDefault' }]
  assert.deepEqual(applied('unconfined'), [unconfined, [deprecated('c')]])
  assert.deepEqual(applied('runtime/default'), [runtime, [deprecated('c')]])
  assert.deepEqual(applied('localhost/test'), [{ type: 'Localhost', localhostProfile: 'test' }, [deprecated('c')]])
  for (const annotation of ['localhost/', 'localhost/ ', 'foo', '', `localhost/${'x'.repeat(5000)}`])
    assert.deepEqual(applied(annotation), [undefined, [deprecated('c')]])
})

test('what fields say stays', () => {
  const profile = { type: 'RuntimeDefault' }
  const said = { containers: [{ name: 'c', image: 'i', securityContext: { appArmorProfile: profile } }] }
  assert.deepEqual(applied('unconfined', said), [profile, []])
  assert.deepEqual(applied('runtime/default', { securityContext: { appArmorProfile: profile } }), [undefined, []])
  assert.deepEqual(applied('unconfined', { securityContext: { appArmorProfile: profile } }), [
    { type: 'Unconfined' },
    [deprecated('c')],
  ])
  assert.deepEqual(applied('unconfined', { os: { name: 'windows' } }), [undefined, []])
})

test('the warning is told once, however often a name is tried', () => {
  const made = pod(
    { [key('i')]: 'unconfined', [key('c')]: 'unconfined' },
    { initContainers: [{ name: 'i', image: 'i', securityContext: { runAsUser: 1 } }] },
  )
  applyAppArmorAnnotations(made)
  applyAppArmorAnnotations(made)
  assert.deepEqual(made.spec?.initContainers?.[0]?.securityContext, {
    runAsUser: 1,
    appArmorProfile: { type: 'Unconfined' },
  })
  assert.deepEqual(podWarnings(made), [deprecated('i'), deprecated('c')])
})
