/** kubectl and client-node with custom resources that a webhook converts. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { CustomObjectsApi, KubeConfig } from '@kubernetes/client-node'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { testCluster } from '../support/test-cluster.ts'
import { conversionWebhook, define } from './webhook.ts'
import { group } from './widgets.ts'

const manifest = JSON.stringify({
  apiVersion: `${group}/v2`,
  kind: 'Widget',
  metadata: { name: 'a' },
  spec: { host: 'one', port: 1, size: 2 },
})

for (const program of installedKubectls()) {
  test(`kubectl ${program.version} shows and changes objects in each version`, async (t) => {
    const [cluster, webhook] = await Promise.all([testCluster(t), conversionWebhook(t)])
    await define(cluster, { clientConfig: webhook.clientConfig })
    const kubectl = new Kubectl(program, cluster.kubeconfigFile, cluster.folder)
    await kubectl.ok('apply -f -', `widget.${group}/a created\n`, { input: manifest })
    await kubectl.ok('apply -f -', `widget.${group}/a unchanged\n`, { input: manifest })
    await kubectl.ok(`get widgets.v1.${group}`, /^NAME +PLACE +SIZE\na +one:1 +2\n$/)
    await kubectl.ok(`get widgets.v3.${group}`, /^NAME +PLACE +SIZE\na +one +2\n$/)
    await kubectl.ok(
      `patch widgets.v3.${group} a --type merge -p {"spec":{"address":{"port":9}}}`,
      `widget.${group}/a patched\n`,
    )
    await kubectl.ok(`scale widgets.v2.${group} a --replicas 5`, `widget.${group}/a scaled\n`)
    assert.deepEqual((await kubectl.json(`get widgets.v1.${group} a`)).spec, { hostPort: 'one:9', size: 5 })
    await webhook.setBehavior('failure')
    const { code, stderr } = await kubectl.run(`create -f -`, { input: manifest.replace('"a"', '"b"') })
    assert.equal(code, 1)
    assert.match(
      stderr,
      new RegExp(
        '^Error from server: error when creating "STDIN": conversion webhook ' +
          String.raw`for shop\.example\.com/v2, Kind=Widget failed: not today\n$`,
      ),
    )
  })
}

test('client-node reads and replaces objects in a version other than the storage version', async (t) => {
  const [cluster, webhook] = await Promise.all([testCluster(t), conversionWebhook(t)])
  await define(cluster, { clientConfig: webhook.clientConfig })
  const config = new KubeConfig()
  config.loadFromString(cluster.kubeconfigYaml)
  const objects = config.makeApiClient(CustomObjectsApi)
  const target = { group, namespace: 'default', plural: 'widgets' }
  await objects.createNamespacedCustomObject({ ...target, version: 'v2', body: JSON.parse(manifest) })
  const read = await objects.getNamespacedCustomObject({ ...target, version: 'v3', name: 'a' })
  assert.deepEqual(read.spec.address, { host: 'one', port: 1 })
  read.spec.address.port = 4
  await objects.replaceNamespacedCustomObject({ ...target, version: 'v3', name: 'a', body: read })
  const { items } = await objects.listNamespacedCustomObject({ ...target, version: 'v1' })
  assert.deepEqual(
    items.map(({ spec }: { spec: { hostPort: string } }) => spec.hostPort),
    ['one:4'],
  )
})
