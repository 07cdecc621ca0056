import assert from 'node:assert/strict'
import test from 'node:test'
import { podAnnotationsUpdate, validateDeletionCostUpdate } from './annotations.ts'
import { errorMessages, validationErrors } from './pod-rules.fixture.ts'

test('annotations with a meaning are validated', () => {
  const appArmor = 'container.apparmor.security.beta.kubernetes.io/'
  assert.deepEqual(
    validationErrors(
      {},
      {
        'controller.kubernetes.io/pod-deletion-cost': '+1',
        [`${appArmor}x`]: 'foo',
        'seccomp.security.alpha.kubernetes.io/pod': 'x',
      },
    ),
    [
      'metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "+1": must be a 32bit integer',
      'metadata.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: "x": must be a valid ' +
        'seccomp profile',
      `metadata.annotations[${appArmor}x]: Invalid value: "x": container not found`,
      `metadata.annotations[${appArmor}x]: Invalid value: "foo": invalid AppArmor profile name: "foo"`,
    ],
  )
  assert.deepEqual(
    validationErrors(
      { securityContext: { appArmorProfile: { type: 'Unconfined' } } },
      { [`${appArmor}c`]: 'runtime/default' },
    ),
    ['containers[0].securityContext.appArmorProfile.type: Forbidden: apparmor type in annotation and field must match'],
  )
  assert.deepEqual(errorMessages(podAnnotationsUpdate({ [`${appArmor}c`]: 'b' }, { [`${appArmor}c`]: 'a' }, 'at')), [
    `at[${appArmor}c]: Forbidden: may not remove or update AppArmor annotations`,
  ])
  assert.deepEqual(errorMessages(podAnnotationsUpdate({ 'kubernetes.io/config.mirror': 'b' }, {}, 'at')), [
    'at[kubernetes.io/config.mirror]: Forbidden: may not add mirror pod annotation',
  ])
})

test('an update must not make pod-deletion-cost invalid', () => {
  const cost = (value: string) => ({ 'controller.kubernetes.io/pod-deletion-cost': value })
  const wrong = ['at[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "x": must be a 32bit integer']
  assert.deepEqual(errorMessages(validateDeletionCostUpdate(cost('x'), cost('1'), 'at')), wrong)
  assert.deepEqual(errorMessages(validateDeletionCostUpdate(cost('x'), {}, 'at')), wrong)
  assert.deepEqual(errorMessages(validateDeletionCostUpdate(cost('2'), cost('1'), 'at')), [])
  assert.deepEqual(errorMessages(validateDeletionCostUpdate(cost('x'), cost('y'), 'at')), [])
})
