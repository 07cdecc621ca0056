/** Tests of the conformance suite for evictions by taints of the node (`test/e2e/node/taints.go`), on a real node. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { nodes, type Pod, pods } from '../../../src/client/kinds.ts'
import { waitFor } from '../../support/wait-for.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { TestNode } from '../support/test-node.ts'

const taint = { key: 'kubernetes.io/e2e-evict-taint-key', value: 'evictTaintVal', effect: 'NoExecute' }

const evicted = (name: string, tolerationSeconds?: number) => ({
  name,
  script: 'sleep 1d',
  tolerations: tolerationSeconds === undefined ? [] : [{ ...taint, operator: 'Equal', tolerationSeconds }],
})

const setTaints = async ({ client }: TestNode, taints: readonly object[]): Promise<void> =>
  void (await client.patch(nodes, '', 'n1', { spec: { taints } }, 'merge'))

/** Resolves when the pod is gone, by no deletion of the test. */
const isGone = ({ client }: TestNode, { metadata: { name = '' } }: Pod): Promise<unknown> =>
  waitFor(`${name} is evicted`, async () => !(await client.find(pods, 'default', name)), { deadlineMs: 120_000 })

await inNamespaces(import.meta.filename, () =>
  // One after the other: they taint the same node.
  describe('evictions by taints', { concurrency: 1 }, async () => {
    const started = TestNode.start()

    test('Taint, Pod Eviction on taint removal', async () => {
      const node = await started
      const tolerant = await node.create(evicted('taint-eviction-4', 5))
      const witness = await node.create(evicted('without-toleration'))
      await Promise.all([tolerant, witness].map((pod) => node.running(pod)))
      await setTaints(node, [taint])
      await isGone(node, witness)
      await setTaints(node, [])
      // The end of another pod, which is later, shows that the time of the toleration is over.
      const later = await node.create({ ...evicted('later'), activeDeadlineSeconds: 6 })
      await node.until(later, 'is over', ({ status }) => status?.reason === 'DeadlineExceeded')
      const { metadata, status } = await node.read(tolerant)
      assert.deepEqual([metadata.deletionTimestamp, status?.phase], [undefined, 'Running'])
    })

    test('Pod Eviction, Toleration limits', async () => {
      const node = await started
      const label = 'kubernetes.io/hostname'
      const hostname = (await node.client.get(nodes, '', 'n1')).metadata.labels?.[label] ?? ''
      const [first, second] = await Promise.all([
        node.create(evicted('taint-eviction-b1', 1)),
        node.create({ ...evicted('taint-eviction-b2', 8), nodeSelector: { [label]: hostname } }),
      ])
      await Promise.all([first, second].map((pod) => node.running(pod)))
      await setTaints(node, [taint])
      await isGone(node, first)
      assert.equal((await node.read(second)).metadata.deletionTimestamp, undefined)
      await isGone(node, second)
      await setTaints(node, [])
    })
  }),
)
