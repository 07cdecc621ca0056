import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { podOf } from '../pod.fixture.ts'
import { imagePolicyConfiguration } from './image-policy-configuration.ts'
import { reviewOf, statusIn } from './image-review.ts'

describe('the configuration of ImagePolicyWebhook', () => {
  const read = (more: object) => imagePolicyConfiguration({ imagePolicy: { kubeConfigFile: 'f', ...more } })

  test('times have a default and can be set or turned off', () => {
    const { allowMs, denyMs, backoffMs, defaultAllow } = read({})
    assert.deepEqual([allowMs, denyMs, backoffMs, defaultAllow], [300_000, 30_000, 500, false])
    assert.equal(read({ allowTTL: -1 }).allowMs, 0)
    assert.deepEqual([read({ denyTTL: 50 }).denyMs, read({ retryBackoff: 20 }).backoffMs], [50_000, 20])
    assert.deepEqual(
      [read({ allowTTL: 2 }).allowMs, read({ allowTTL: 1800 }).allowMs, read({ retryBackoff: 1 }).backoffMs],
      [2000, 1_800_000, 1],
    )
    assert.deepEqual(read({ allowTTL: null, denyTTL: null, retryBackoff: null, defaultAllow: null }), read({}))
  })

  const wrong: readonly (readonly [unknown, RegExp])[] = [
    [undefined, /no config specified/],
    [{}, /imagePolicy/],
    [{ imagePolicy: {} }, /kubeConfigFile/],
    [
      { imagePolicy: { kubeConfigFile: 'f', allowTTL: 3600 } },
      /allowTTL is 3600, and has to be a whole number of seconds, from 2 to 1800/,
    ],
    [{ imagePolicy: { kubeConfigFile: 'f', allowTTL: 1 } }, /allowTTL is 1, /],
    [{ imagePolicy: { kubeConfigFile: 'f', denyTTL: 2.5 } }, /denyTTL is 2\.5, /],
    [{ imagePolicy: { kubeConfigFile: 'f', retryBackoff: 300_001 } }, /retryBackoff is 300001, /],
    [{ imagePolicy: { kubeConfigFile: 'f', retryBackoff: -2 } }, /retryBackoff is -2, /],
    [{ imagePolicy: { kubeConfigFile: 'f', defaultAllow: 'yes' } }, /defaultAllow/],
  ]
  for (const [given, says] of wrong)
    test(`${JSON.stringify(given)} is rejected`, () => assert.throws(() => imagePolicyConfiguration(given), says))
})

test('a review has all images and the image-policy annotations', () => {
  const pod = podOf({ initContainers: [{ name: 'i', image: 'b' }], ephemeralContainers: [{ name: 'e', image: 'c' }] })
  pod.metadata.annotations = { 'x.image-policy.k8s.io/break-glass': 'yes', other: 'no' }
  assert.deepEqual(JSON.parse(reviewOf(pod, 'n', 'containers')).spec, {
    containers: [{ image: 'i' }, { image: 'b' }],
    annotations: { 'x.image-policy.k8s.io/break-glass': 'yes' },
    namespace: 'n',
  })
  const { metadata, spec } = JSON.parse(reviewOf(pod, 'n', 'ephemeralContainers'))
  assert.deepEqual([metadata, spec.containers], [{}, [{ image: 'c' }]])
})

test('an answer that is not an ImageReview is an error', () => {
  for (const answer of [
    '',
    '[]',
    '{"kind":"Pod"}',
    '{"kind":"ImageReview","apiVersion":"imagepolicy.k8s.io/v1alpha1","status":{"allowed":"yes"}}',
  ])
    assert.throws(() => statusIn(Buffer.from(answer)), /the webhook/)
})
