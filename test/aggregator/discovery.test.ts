import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import test from 'node:test'
import type { TestCluster } from '../support/test-cluster.ts'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { apiService, apiServicePath, becomes, extensionServer, externalNameService, registered } from './orchard.ts'

interface Resource {
  readonly resource: string
  readonly responseKind: { readonly group: string; readonly version: string; readonly kind: string }
  readonly scope: string
}

interface Group {
  readonly metadata: { readonly name?: string }
  readonly versions: readonly {
    readonly version: string
    readonly freshness: string
    readonly resources?: readonly Resource[]
  }[]
}

async function groups({ client }: TestCluster): Promise<readonly Group[]> {
  const { ca, cert, key, url } = client
  const headers = { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' }
  const [response]: IncomingMessage[] = await once(
    request(new URL('/apis', url), { ca, cert, key, agent: false, headers }).end(),
    'response',
  )
  return (JSON.parse(Buffer.concat(await response!.toArray()).toString()) as { items: readonly Group[] }).items
}

const orchard = async (cluster: TestCluster) =>
  (await groups(cluster)).find(({ metadata }) => metadata.name === 'orchard.example.com')?.versions[0]

for (const aggregatedDiscovery of [true, false]) {
  test(
    `groups of a server with ${aggregatedDiscovery ? 'aggregated' : 'older'} discovery stand among those of the ` +
      'cluster, by priority',
    async (t) => {
      const cluster = await testCluster(t)
      await registered(t, cluster, { aggregatedDiscovery })
      const found = await orchard(cluster)
      assert.equal(found?.freshness, 'Current')
      assert.deepEqual(
        found.resources?.map(({ resource, responseKind, scope }) => [resource, responseKind, scope]),
        [['apples', { group: 'orchard.example.com', version: 'v1', kind: 'Apple' }, 'Namespaced']],
      )
      assert.equal((await groups(cluster)).at(-1)?.metadata.name, 'orchard.example.com')
      await cluster.call(
        'PATCH',
        apiServicePath,
        { spec: { groupPriorityMinimum: 17_850 } },
        'application/merge-patch+json',
      )
      const names = await waitFor('the group is more important', async () => {
        const list = (await cluster.call('GET', '/apis')).groups as readonly { readonly name: string }[]
        return list[1]?.name === 'orchard.example.com' && list.map(({ name }) => name)
      })
      assert.deepEqual(names.slice(0, 3), ['apiregistration.k8s.io', 'orchard.example.com', 'apps'])
      const group = await cluster.call('GET', '/apis/orchard.example.com')
      assert.deepEqual(group.preferredVersion, { groupVersion: 'orchard.example.com/v1', version: 'v1' })
      assert.equal((await cluster.call('GET', '/apis/orchard.example.com/v1')).groupVersion, 'orchard.example.com/v1')
    },
  )
}

test('resources of a server that has stopped are still listed, as stale', async (t) => {
  const cluster = await testCluster(t)
  const extension = await registered(t, cluster)
  await extension.stop()
  // Any change of the Service makes the aggregator check it.
  await cluster.call(
    'PATCH',
    '/api/v1/namespaces/default/services/orchard',
    { metadata: { labels: { a: 'b' } } },
    'application/merge-patch+json',
  )
  await becomes(cluster, 'FailedDiscoveryCheck')
  const found = await orchard(cluster)
  assert.equal(found?.freshness, 'Stale')
  assert.equal(found.resources?.[0]?.resource, 'apples')
})

test('a server that was never reached is shown without resources, as stale', async (t) => {
  const cluster = await testCluster(t)
  await cluster.call('POST', '/apis/apiregistration.k8s.io/v1/apiservices', apiService({}))
  await becomes(cluster, 'ServiceNotFound')
  assert.deepEqual(await orchard(cluster), { version: 'v1', freshness: 'Stale' })
})

test(
  'OpenAPI of both servers is one: documents of v3 are passed on, paths of v2 merged with the definitions that ' +
    'they need',
  async (t) => {
    const cluster = await testCluster(t)
    await registered(t, cluster)
    const index = (await cluster.call('GET', '/openapi/v3')).paths as Readonly<
      Record<string, { readonly serverRelativeURL: string }>
    >
    assert.equal(
      index['apis/orchard.example.com/v1']?.serverRelativeURL,
      '/openapi/v3/apis/orchard.example.com/v1?hash=A1',
    )
    assert.match(index['apis/apps/v1']!.serverRelativeURL, /^\/openapi\/v3\/apis\/apps\/v1/)
    assert.deepEqual((await cluster.call('GET', index['apis/orchard.example.com/v1']!.serverRelativeURL)).info, {
      title: 'orchard',
      version: '1',
    })

    const { paths, definitions } = (await cluster.call('GET', '/openapi/v2')) as {
      paths?: Record<string, object>
      definitions?: Record<string, { properties: Record<string, unknown> }>
    }
    assert.ok(paths?.['/apis/orchard.example.com/v1/namespaces/{namespace}/apples'])
    assert.ok(!JSON.stringify(paths['/apis/apps/v1/deployments'] ?? {}).includes('notOurs'))
    const renamed = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta_v2'
    assert.deepEqual(definitions?.['com.example.orchard.v1.Apple']?.properties.metadata, {
      $ref: `#/definitions/${renamed}`,
    })
    assert.deepEqual(Object.keys(definitions[renamed]!.properties), ['name'])
  },
)

test('a restarted server is fresh again, with its new discovery', async (t) => {
  const cluster = await testCluster(t)
  const first = await extensionServer(t, cluster, { aggregatedDiscovery: false })
  await cluster.call('POST', '/api/v1/namespaces/default/services', externalNameService)
  await cluster.call(
    'POST',
    '/apis/apiregistration.k8s.io/v1/apiservices',
    apiService({ insecureSkipTLSVerify: true, port: first.port }),
  )
  await becomes(cluster, 'Passed')
  await first.stop()
  await cluster.call(
    'PATCH',
    '/api/v1/namespaces/default/services/orchard',
    { metadata: { labels: { a: 'b' } } },
    'application/merge-patch+json',
  )
  await becomes(cluster, 'FailedDiscoveryCheck')
  await extensionServer(t, cluster, { port: first.port })
  await becomes(cluster, 'Passed')
  await waitFor('discovery is current', async () => (await orchard(cluster))?.freshness === 'Current')
})
