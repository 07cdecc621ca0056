import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { testCluster } from '../../support/test-cluster.ts'

test('a pod can be bound to a node once', async (t) => {
  const cluster = await testCluster(t)
  const config = new KubeConfig()
  config.loadFromString(cluster.kubeconfigYaml)
  const core = config.makeApiClient(CoreV1Api)
  const namespace = 'default'
  for (const name of ['a', 'b'])
    await core.createNamespacedPod({
      namespace,
      body: { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    })

  // Both endpoints that schedulers use.
  const bind = (name: string, node: string) => ({
    metadata: { name, annotations: { by: 'test' } },
    target: { kind: 'Node', name: node },
  })
  await core.createNamespacedPodBinding({ namespace, name: 'a', body: bind('a', 'n1') })
  await core.createNamespacedBinding({ namespace, body: bind('b', 'n2') })
  const pods = (await core.listNamespacedPod({ namespace })).items
  assert.deepEqual(
    pods.map(({ spec }) => spec?.nodeName),
    ['n1', 'n2'],
  )
  assert.equal(pods[0]?.metadata?.annotations?.by, 'test')
  assert.deepEqual(
    pods[0]?.status?.conditions?.map(({ type, status }) => [type, status]),
    [['PodScheduled', 'True']],
  )

  await assert.rejects(
    core.createNamespacedPodBinding({ namespace, name: 'a', body: bind('a', 'n3') }),
    /pod a is already assigned to node/,
  )
  await assert.rejects(
    core.createNamespacedPodBinding({ namespace, name: 'gone', body: bind('gone', 'n1') }),
    /not found/,
  )
})
