import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pluginFixture, rejectionOf } from '../plugin.fixture.ts'
import { neededFor, nodeDeclaredFeatureValidator } from './node-declared-features.ts'
import { podOf } from './pod.fixture.ts'

const podResize = 'InPlacePodLevelResourcesVerticalScaling'
const initResize = 'InPlacePodVerticalScalingInitContainers'
const container = (cpu: string) => ({ name: 'c', image: 'i', resources: { requests: { cpu } } })
const pod = (cpu: string, spec: object = {}) => podOf({ nodeName: 'n', containers: [container(cpu)], ...spec })

test('changes of a pod and the node features that they need', () => {
  const whole = { resources: { requests: { cpu: '1' } } }
  const init = (cpu: string, restartPolicy?: string) => ({ initContainers: [{ ...container(cpu), restartPolicy }] })
  const cases = [
    ['nothing has changed', pod('1'), pod('1'), []],
    ['more for a container', pod('2'), pod('1'), []],
    ['pod-level resources', pod('1', { resources: { requests: { cpu: '2' } } }), pod('1', whole), [podResize]],
    ['unchanged pod-level resources', pod('1', whole), pod('1', whole), []],
    ['more for an init container', pod('1', init('2')), pod('1', init('1')), [initResize]],
    ['more for a sidecar', pod('1', init('2', 'Always')), pod('1', init('1', 'Always')), []],
    ['both', pod('2', { ...whole, ...init('2') }), pod('1', init('1')), [podResize, initResize]],
  ] as const
  for (const [title, next, old, expected] of cases) assert.deepEqual(neededFor(next, old), expected, title)
})

test('a change that the node does not support is rejected with all missing features', async () => {
  const { sources, store, write } = pluginFixture()
  const plugin = nodeDeclaredFeatureValidator(sources)
  await store('v1/nodes', { metadata: { name: 'old' } })
  await store('v1/nodes', { metadata: { name: 'new' }, status: { declaredFeatures: [initResize, podResize] } })
  const resources = { requests: { cpu: '3' } }
  const resize = (nodeName: string, subresource = 'resize') =>
    rejectionOf(
      plugin,
      write('v1/pods', pod('1', { nodeName, resources, initContainers: [container('2')] }), {
        operation: 'UPDATE',
        subresource,
        old: pod('1', { nodeName, initContainers: [container('1')] }),
      }),
    )
  assert.equal(await resize('new'), undefined)
  for (const subresource of ['', 'resize'])
    assert.equal(
      await resize('old', subresource),
      `pods "p" is forbidden: pod update requires features ${podResize}, ${initResize} which are not available on ` +
        'node "old"',
    )
  assert.equal(await resize('gone'), 'pods "p" is forbidden: node "gone" not found')
  assert.equal(await resize('old', 'status'), undefined)
  assert.equal(await resize(''), undefined)
})
