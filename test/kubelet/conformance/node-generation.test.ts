/** Tests of the conformance suite for generations and classes of pods (`test/e2e/node/pods.go`), on a real node. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Pod, pods } from '../../../src/client/kinds.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { images } from '../support/runtimes/test-images.ts'
import { shell, TestNode } from '../support/test-node.ts'

/** A second name of the image, as of a newer version. */
const otherImage = images.newBusybox
const forever = 'trap "exit 0" TERM; while true; do sleep 0.2; done'

await inNamespaces(import.meta.filename, () =>
  describe('generations of pods', { concurrency: true }, async () => {
    const started = TestNode.start()
    for (const define of [testUpdates, testDeletion, testClass]) define(started)
  }),
)

function observed(node: TestNode, pod: Pod, generation: number): Promise<Pod> {
  return node.until(pod, `is observed at ${generation}`, ({ status }) => status?.observedGeneration === generation)
}

function testUpdates(started: Promise<TestNode>): void {
  test('Pods Generation, updates', async () => {
    const node = await started
    const pod = await node.create({ name: 'updated', initContainers: [shell('init', 'exit 0')], script: forever })
    assert.equal(pod.metadata.generation, 1)
    await node.running(pod)
    const patches: readonly (readonly [object, number])[] = [
      [{}, 1],
      [{ spec: { tolerations: [{ key: 'foo', operator: 'Equal', value: 'bar', effect: 'NoSchedule' }] } }, 2],
      [{ spec: { activeDeadlineSeconds: 5000 } }, 3],
      [{ spec: { containers: [{ name: 'main', image: otherImage }] } }, 4],
      [{ spec: { initContainers: [{ name: 'init', image: otherImage }] } }, 5],
      [{ metadata: { annotations: { key: 'value' } } }, 5],
      [{ metadata: { generation: 1 } }, 5],
    ]
    for (const [patch, generation] of patches) {
      const { metadata } = await node.client.patch(pods, 'default', 'updated', patch, 'strategic')
      assert.equal(metadata.generation, generation, JSON.stringify(patch))
      await observed(node, pod, generation)
    }
  })

  test('Pods Generation, 500 updates', async () => {
    const node = await started
    const pod = await node.create({ name: 'often', script: forever, activeDeadlineSeconds: 5000 })
    for (let seconds = 4999; seconds > 4500; seconds--)
      await node.client.patch(pods, 'default', 'often', { spec: { activeDeadlineSeconds: seconds } })
    const { metadata } = await observed(node, pod, 500)
    assert.equal(metadata.generation, 500)
  })
}

function testDeletion(started: Promise<TestNode>): void {
  test('Pods Generation, graceful delete', async () => {
    const node = await started
    const pod = await node.create({
      name: 'deleted',
      script: 'trap "" TERM; while true; do sleep 0.1; done',
      terminationGracePeriodSeconds: 60,
    })
    assert.equal(pod.metadata.generation, 1)
    await node.running(pod)
    await node.client.delete(pods, 'default', 'deleted')
    const { metadata } = await observed(node, pod, 2)
    assert.deepEqual([metadata.generation, metadata.deletionGracePeriodSeconds], [2, 60])
    await node.client.delete(pods, 'default', 'deleted', { gracePeriodSeconds: 1 })
    await node.deleted(pod)
  })
}

function testClass(started: Promise<TestNode>): void {
  test('Pods, QOS', async () => {
    const node = await started
    const amounts = { cpu: '100m', memory: '100Mi' }
    const pod = await node.create({
      name: 'guaranteed',
      script: forever,
      container: { resources: { requests: amounts, limits: amounts } },
    })
    assert.equal(pod.status?.qosClass, 'Guaranteed')
    const { status } = await node.running(pod)
    assert.equal(status?.qosClass, 'Guaranteed')
  })
}
