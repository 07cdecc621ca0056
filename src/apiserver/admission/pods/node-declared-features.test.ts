import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pluginFixture, rejectionOf } from '../plugin.fixture.ts'
import { neededFor, nodeDeclaredFeatureValidator } from './node-declared-features.ts'
import { podOf } from './pod.fixture.ts'

const cpuResize = 'GuaranteedQoSPodCPUResize'
const podResize = 'InPlacePodLevelResourcesVerticalScaling'
const pod = (
  cpu: string,
  { qosClass = 'Guaranteed', ...spec }: { qosClass?: string; nodeName?: string; resources?: object } = {},
) => ({
  ...podOf({ nodeName: 'n', containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }], ...spec }),
  status: { qosClass },
})

test('changes of a pod and the node features that they need', () => {
  const whole = { resources: { requests: { cpu: '1' } } }
  const cases = [
    ['nothing has changed', pod('1'), pod('1000m'), []],
    ['more for a container of a guaranteed pod', pod('2'), pod('1'), [cpuResize]],
    ['nothing before', pod('2'), podOf({ containers: [{ name: 'c', image: 'i' }] }), [cpuResize]],
    ['another QoS class', pod('2', { qosClass: 'Burstable' }), pod('1', { qosClass: 'Burstable' }), []],
    ['pod-level resources', pod('1', { resources: { requests: { cpu: '2' } } }), pod('1', whole), [podResize]],
    ['unchanged pod-level resources', pod('1', whole), pod('1', whole), []],
    ['both', pod('2', whole), pod('1'), [cpuResize, podResize]],
  ] as const
  for (const [title, next, old, expected] of cases) assert.deepEqual(neededFor(next, old), expected, title)
})

test('a change that the node does not support is rejected with all missing features', async () => {
  const { sources, store, write } = pluginFixture()
  const plugin = nodeDeclaredFeatureValidator(sources)
  await store('v1/nodes', { metadata: { name: 'old' } })
  await store('v1/nodes', { metadata: { name: 'new' }, status: { declaredFeatures: [cpuResize, podResize] } })
  const resize = (nodeName: string, subresource = 'resize') =>
    rejectionOf(
      plugin,
      write('v1/pods', pod('2', { nodeName, resources: { requests: { cpu: '3' } } }), {
        operation: 'UPDATE',
        subresource,
        old: pod('1', { nodeName }),
      }),
    )
  assert.equal(await resize('new'), undefined)
  for (const subresource of ['', 'resize'])
    assert.equal(
      await resize('old', subresource),
      `pods "p" is forbidden: pod update requires features ${cpuResize}, ${podResize} which are not available on ` +
        'node "old"',
    )
  assert.equal(await resize('gone'), 'pods "p" is forbidden: node "gone" not found')
  assert.equal(await resize('old', 'status'), undefined)
  assert.equal(await resize(''), undefined)
})
