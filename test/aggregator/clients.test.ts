import assert from 'node:assert/strict'
import test from 'node:test'
import { CustomObjectsApi, KubeConfig, Watch } from '@kubernetes/client-node'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { apiServiceName, registered } from './orchard.ts'

const apple = (name: string) => ({
  apiVersion: 'orchard.example.com/v1',
  kind: 'Apple',
  metadata: { name },
  spec: { colour: 'red' },
})

for (const program of installedKubectls()) {
  test(`kubectl ${program.version} works with an aggregated API as with any other`, async (t) => {
    const cluster = await testCluster(t)
    await registered(t, cluster)
    const kubectl = new Kubectl(program, cluster.kubeconfigFile, cluster.folder)
    await kubectl.ok(
      'api-resources --api-group orchard.example.com --no-headers',
      /^apples +ap +orchard\.example\.com\/v1 +true +Apple\n$/,
    )
    await kubectl.ok(
      `get apiservice ${apiServiceName} --no-headers`,
      /^v1\.orchard\.example\.com +default\/orchard +True /,
    )
    await kubectl.ok('explain apple.spec.colour', /Red, mostly\./)
    await kubectl.ok('create -f -', 'apple.orchard.example.com/boskoop created\n', {
      input: JSON.stringify(apple('boskoop')),
    })
    await kubectl.ok('get ap', /^NAME +AGE\nboskoop +\d+s\n$/)
    assert.deepEqual((await kubectl.json('get apples boskoop')).spec, { colour: 'red' })
    const deleted = await kubectl.watching('wait --for=delete apple/boskoop --timeout 30s')
    await kubectl.ok('delete apple boskoop --wait=false', /apple\.orchard\.example\.com "boskoop" deleted/)
    await deleted.waiting('apple.orchard.example.com/boskoop condition met\n')
  })
}

test('client-node creates, lists and watches objects of an aggregated API', async (t) => {
  const cluster = await testCluster(t)
  await registered(t, cluster)
  const config = new KubeConfig()
  config.loadFromString(cluster.kubeconfigYaml)
  const objects = config.makeApiClient(CustomObjectsApi)
  const place = { group: 'orchard.example.com', version: 'v1', namespace: 'default', plural: 'apples' }
  const seen: string[] = []
  const watch = await new Watch(config).watch(
    '/apis/orchard.example.com/v1/namespaces/default/apples',
    {},
    (type, { metadata }) => seen.push(`${type} ${metadata.name}`),
    () => {},
  )
  t.after(() => watch.abort())
  await objects.createNamespacedCustomObject({ ...place, body: apple('boskoop') })
  assert.equal((await objects.listNamespacedCustomObject(place)).items.length, 1)
  await objects.deleteNamespacedCustomObject({ ...place, name: 'boskoop' })
  await waitFor('the watch has delivered both', () => seen.length === 2)
  assert.deepEqual(seen, ['ADDED boskoop', 'DELETED boskoop'])
})
