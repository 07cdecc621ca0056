import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admitted, podOf, pods, writeOf } from '../pod.fixture.ts'
import { alwaysPullImages } from './always-pull-images.ts'

const plugin = alwaysPullImages(pods)
const container = (name: string, image = 'i') => ({ name, image, imagePullPolicy: 'Never' })

test('all images of a new pod get the pull policy Always', () => {
  const spec = admitted(plugin, {
    initContainers: [container('a')],
    containers: [container('b')],
    volumes: [{ name: 'v', image: { reference: 'r', pullPolicy: 'IfNotPresent' } }],
  })
  assert.deepEqual(
    [
      spec.initContainers?.[0]?.imagePullPolicy,
      spec.containers[0]?.imagePullPolicy,
      spec.volumes?.[0]?.image?.pullPolicy,
    ],
    ['Always', 'Always', 'Always'],
  )
})

test('an update without new images does not change pull policies', () => {
  const old = podOf({ containers: [container('b', 'same')] })
  const policyOf = (image: string) =>
    admitted(plugin, { containers: [container('b', image)] }, { operation: 'UPDATE', old }).containers[0]
      ?.imagePullPolicy
  assert.equal(policyOf('same'), 'Never')
  assert.equal(policyOf('other'), 'Always')
})

test('a pull policy that a later plug-in changed is rejected', () => {
  assert.throws(() => plugin.validate?.(writeOf(podOf({ containers: [container('b')] }))), {
    code: 500,
    message:
      'pods "p" is forbidden: spec.containers[0].imagePullPolicy: Unsupported value: "Never": supported values: ' +
      '"Always"',
  })
})
