/** `/scale`: the replicas of a workload, and their field ownership. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

const deployments = '/apis/apps/v1/namespaces/default/deployments'
const web = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
}

for (const type of ['merge-patch', 'strategic-merge-patch', 'json-patch'])
  test(`a ${type} of the scale of an object without managed fields works, also up from 0`, async (t) => {
    const cluster = await testCluster(t)
    await cluster.call('POST', deployments, web)
    await cluster.call(
      'PATCH',
      `${deployments}/web`,
      { metadata: { managedFields: [] } },
      'application/merge-patch+json',
    )
    for (const replicas of [0, 2]) {
      const patch =
        type === 'json-patch' ? [{ op: 'add', path: '/spec/replicas', value: replicas }] : { spec: { replicas } }
      await cluster.call('PATCH', `${deployments}/web/scale`, patch, `application/${type}+json`)
      const { spec } = (await cluster.call('GET', `${deployments}/web`)) as unknown as { spec: { replicas: number } }
      assert.equal(spec.replicas, replicas)
    }
  })

test('a strategic merge patch applies to the object of its path, whatever kind its body has', async (t) => {
  const cluster = await testCluster(t)
  await cluster.call('POST', deployments, web)
  const patch = (type: string, kind: unknown) =>
    cluster.call(
      'PATCH',
      `${deployments}/web/scale`,
      { kind, spec: { replicas: 3 } },
      `application/${type}+json`,
    ) as unknown as Promise<{
      kind: string
      spec: { replicas: number }
    }>
  const { kind, spec } = await patch('strategic-merge-patch', 'Deployment')
  assert.deepEqual([kind, spec.replicas], ['Scale', 3])
  await assert.rejects(patch('strategic-merge-patch', 7), /: 422 /)
  await assert.rejects(
    patch('merge-patch', 'Deployment'),
    /: 422 .*no kind \\*"Deployment\\*" is registered for version/,
  )
})

test('a 404 of a scale names the missing object', async (t) => {
  const cluster = await testCluster(t)
  await assert.rejects(
    cluster.call('GET', `${deployments}/none/scale`),
    /: 404 .*"deployments\.apps \\"none\\" not found/,
  )
  await assert.rejects(
    cluster.call('GET', '/api/v1/namespaces/default/replicationcontrollers/none/scale'),
    /: 404 .*"replicationcontrollers \\"none\\" not found/,
  )
})

test('a custom resource without labelSelectorPath has a scale without a selector', async (t) => {
  const cluster = await testCluster(t)
  const group = 'scale.example.com'
  const schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { replicas: { type: 'integer' } } } },
  }
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
  await cluster.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `fleets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'fleets', kind: 'Fleet' },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources: { scale } },
      ],
    },
  })
  const fleets = `/apis/${group}/v1/namespaces/default/fleets`
  await waitFor('the definition to be served', () =>
    cluster.call('GET', fleets).then(
      () => true,
      () => false,
    ),
  )
  await cluster.call('POST', fleets, {
    apiVersion: `${group}/v1`,
    kind: 'Fleet',
    metadata: { name: 'f' },
    spec: { replicas: 3 },
  })
  const found = (await cluster.call('GET', `${fleets}/f/scale`)) as unknown as { spec: unknown; status: unknown }
  assert.deepEqual([found.spec, found.status], [{ replicas: 3 }, { replicas: 0 }])
})
