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
const applyAnnotation = (
  annotation: string,
  spec: object = {},
): readonly [profile: unknown, warnings: readonly string[]] => {
  const made = pod({ [key('c')]: annotation }, spec)
  applyAppArmorAnnotations(made)
  return [made.spec?.containers[0]?.securityContext?.appArmorProfile, appArmorWarnings(made)]
}

test('AppArmor annotations of new pods are copied to fields', () => {
  const [unconfined, runtime] = [{ type: 'Unconfined' }, { type: 'RuntimeDefault' }]
  assert.deepEqual(applyAnnotation('unconfined'), [unconfined, [deprecated('c')]])
  assert.deepEqual(applyAnnotation('runtime/default'), [runtime, [deprecated('c')]])
  assert.deepEqual(applyAnnotation('localhost/test'), [
    { type: 'Localhost', localhostProfile: 'test' },
    [deprecated('c')],
  ])
  for (const annotation of ['localhost/', 'localhost/ ', 'foo', '', `localhost/${'x'.repeat(5000)}`])
    assert.deepEqual(applyAnnotation(annotation), [undefined, [deprecated('c')]])
})

test('an AppArmor field overrides the annotation', () => {
  const profile = { type: 'RuntimeDefault' }
  const spec = { containers: [{ name: 'c', image: 'i', securityContext: { appArmorProfile: profile } }] }
  assert.deepEqual(applyAnnotation('unconfined', spec), [profile, []])
  assert.deepEqual(applyAnnotation('runtime/default', { securityContext: { appArmorProfile: profile } }), [
    undefined,
    [],
  ])
  assert.deepEqual(applyAnnotation('unconfined', { securityContext: { appArmorProfile: profile } }), [
    { type: 'Unconfined' },
    [deprecated('c')],
  ])
  assert.deepEqual(applyAnnotation('unconfined', { os: { name: 'windows' } }), [undefined, []])
})

test('the AppArmor warning is returned once, even if the pod is prepared several times', () => {
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
