/**
 * The kubelet notices changes of the runtime by its events, and without them; and the runtime gets the range of pods.
 * containerd 1.6 sends no events, so that a proxy before it does.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { nodes } from '../../src/client/kinds.ts'
import { waitFor } from '../support/wait-for.ts'
import { inNamespaces } from './support/in-namespaces.ts'
import { CriProxy } from './support/runtimes/cri-proxy.ts'
import { TestNode } from './support/test-node.ts'

const waiting = { deadlineMs: 120_000, everyMs: 50 }

/** True if a number has not changed since the last call with it. */
const isQuiet = (() => {
  let last = -1
  return (count: () => number): boolean => {
    const isSame = count() === last
    last = count()
    return isSame
  }
})()

await inNamespaces(import.meta.filename, () =>
  describe('changes of the runtime', async () => {
    const node = await TestNode.start()
    const proxy = await CriProxy.start(node.runtime.endpoint)
    after(() => proxy.stop())
    await node.stopKubelet()
    await node.startKubelet({ containerRuntimeEndpoint: proxy.endpoint })
    const lists = (): number => proxy.requests('listContainers').length
    const listedAgain = async (): Promise<void> => {
      const before = lists()
      await waitFor('the runtime is listed', () => lists() > before + 2, waiting)
    }

    test('the runtime gets the range of the node when the cluster has given it one', async () => {
      assert.deepEqual(proxy.requests('updateRuntimeConfig'), [])
      await node.client.patch(nodes, '', 'n1', { spec: { podCIDR: '10.9.0.0/24', podCIDRs: ['10.9.0.0/24'] } })
      const [request] = await waitFor(
        'the runtime has a range',
        () => {
          const requests = proxy.requests('updateRuntimeConfig')
          return requests.length > 0 && requests
        },
        waiting,
      )
      assert.equal(request?.runtimeConfig?.networkConfig?.podCidr, '10.9.0.0/24')
    })

    test('pods are followed by events, and without them after the runtime has restarted', async () => {
      const pod = await node.running(await node.create({ name: 'web', script: 'sleep 3600' }))
      const { uid = '', name = '', namespace = '' } = pod.metadata
      const labels = {
        'io.kubernetes.pod.uid': uid,
        'io.kubernetes.pod.name': name,
        'io.kubernetes.pod.namespace': namespace,
      }
      await listedAgain()
      await waitFor('the kubelet waits for events', () => proxy.isFollowed, waiting)
      proxy.sendEvent(labels)
      // The comparison that was due is the last for long: a container that ends is noticed by its event alone.
      const quiet = await waitFor('comparisons are rare', () => isQuiet(lists), { ...waiting, everyMs: 3_000 })
      assert.ok(quiet)

      await node.runtime.stopDaemon()
      proxy.endEvents()
      await waitFor('the kubelet asks for events again', () => proxy.isFollowed, waiting)
      await node.runtime.startDaemon()
      await listedAgain()
      const { status } = await node.running(pod)
      assert.equal(status?.containerStatuses?.[0]?.restartCount, 0)
      proxy.sendEvent(labels)
      await waitFor('comparisons are rare again', () => isQuiet(lists), { ...waiting, everyMs: 3_000 })
    })
  }),
)
