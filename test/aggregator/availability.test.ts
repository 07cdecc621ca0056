import assert from 'node:assert/strict'
import test from 'node:test'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import {
  apiService,
  apiServiceName,
  apiServicePath,
  becomes,
  clusterIpService,
  endpointSlice,
  extensionServer,
  machineAddress,
} from './orchard.ts'

const services = '/api/v1/namespaces/default/services'
const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'
const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices'

const address = machineAddress()

test('an APIService reports step by step what is missing: the Service, its port, its endpoints, their addresses, an ' +
  'answer', {
  skip: !address && 'this machine has no address that endpoints may have',
}, async (t) => {
  const cluster = await testCluster(t)
  const { authority, port } = await extensionServer(t, cluster)
  await cluster.call('POST', apiServices, apiService({ authority }))
  assert.equal((await becomes(cluster, 'ServiceNotFound')).message, 'service/orchard in "default" is not present')

  await cluster.call('POST', services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'orchard' },
    spec: { ports: [{ name: 'other', port: 80 }] },
  })
  assert.equal(
    (await becomes(cluster, 'ServicePortError')).message,
    'service/orchard in "default" is not listening on port 443',
  )

  await cluster.call('DELETE', `${services}/orchard`)
  await cluster.call('POST', services, clusterIpService)
  assert.equal(
    (await becomes(cluster, 'EndpointsNotFound')).message,
    'cannot find endpointslices for service/orchard in "default"',
  )

  await cluster.call('POST', slices, endpointSlice(address!, port, 'other'))
  assert.equal(
    (await becomes(cluster, 'MissingEndpoints')).message,
    'endpointslices for service/orchard in "default" have no addresses with port name "https"',
  )

  await cluster.call('DELETE', `${slices}/orchard-1`)
  await cluster.call('POST', slices, endpointSlice(address!, 1))
  assert.match(
    (await becomes(cluster, 'FailedDiscoveryCheck')).message,
    new RegExp(
      String.raw`^failing or missing response from (https://.*:1/apis/orchard\.example\.com/v1)` +
        String.raw`: Get "\1": dial tcp .*:1: connect: connection refused$`,
    ),
  )

  await cluster.call('DELETE', `${slices}/orchard-1`)
  await cluster.call('POST', slices, endpointSlice(address!, port))
  assert.deepEqual((({ status, message }) => [status, message])(await becomes(cluster, 'Passed')), [
    'True',
    'all checks passed',
  ])
  assert.equal((await cluster.call('GET', '/apis/orchard.example.com/v1/apples')).kind, 'AppleList')
})

test('requests reach the server by Endpoints if no controller mirrors them to EndpointSlices', {
  skip: !address && 'this machine has no address that endpoints may have',
}, async (t) => {
  const cluster = await testCluster(t)
  const { authority, port } = await extensionServer(t, cluster)
  await cluster.call('POST', services, clusterIpService)
  const subsets = [{ addresses: [{ ip: address }], ports: [{ name: 'https', port }] }]
  await cluster.call('POST', '/api/v1/namespaces/default/endpoints', {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'orchard' },
    subsets,
  })
  await cluster.call('POST', apiServices, apiService({ authority }))
  await becomes(cluster, 'Passed')
  assert.equal((await cluster.call('GET', '/apis/orchard.example.com/v1/apples')).kind, 'AppleList')
})

test('a server with a certificate of an unknown authority is available only with insecureSkipTLSVerify', async (t) => {
  const cluster = await testCluster(t)
  const { port } = await extensionServer(t, cluster)
  await cluster.call('POST', services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'orchard' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  })
  await cluster.call('POST', apiServices, apiService({ port }))
  assert.match(
    (await becomes(cluster, 'FailedDiscoveryCheck')).message,
    /tls: failed to verify certificate: x509: certificate signed by unknown authority$/,
  )
  await cluster.call('PATCH', apiServicePath, { spec: { insecureSkipTLSVerify: true } }, 'application/merge-patch+json')
  await becomes(cluster, 'Passed')
})

test('an APIService that becomes local is available; its old server gets no requests', async (t) => {
  const cluster = await testCluster(t)
  await cluster.call('POST', apiServices, apiService({}))
  await becomes(cluster, 'ServiceNotFound')
  await cluster.call('PATCH', apiServicePath, { spec: { service: null } }, 'application/merge-patch+json')
  assert.equal((await becomes(cluster, 'Local')).message, 'Local APIServices are always available')
})

test(
  'custom resources have an APIService as long as their group version is served, and it is put right when ' +
    'somebody changes it',
  async (t) => {
    const cluster = await testCluster(t)
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    await cluster.call('POST', definitions, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'apples.orchard.example.com' },
      spec: {
        group: 'orchard.example.com',
        scope: 'Namespaced',
        names: { plural: 'apples', kind: 'Apple' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    })
    await becomes(cluster, 'Local')
    const { spec, metadata } = await cluster.call('GET', apiServicePath)
    assert.deepEqual(spec, {
      group: 'orchard.example.com',
      version: 'v1',
      groupPriorityMinimum: 1000,
      versionPriority: 100,
    })
    assert.deepEqual(metadata.labels, { 'kube-aggregator.kubernetes.io/automanaged': 'true' })

    await cluster.call('PATCH', apiServicePath, { spec: { versionPriority: 7 } }, 'application/merge-patch+json')
    await waitFor(
      'the priority is back',
      async () =>
        ((await cluster.call('GET', apiServicePath)).spec as { versionPriority: number }).versionPriority === 100,
    )
    await cluster.call('DELETE', apiServicePath)
    await becomes(cluster, 'Local')

    await cluster.call('DELETE', `${definitions}/apples.orchard.example.com`)
    await waitFor('the APIService is gone', async () => {
      const { items } = (await cluster.call('GET', apiServices)) as {
        items?: readonly { readonly metadata: { readonly name: string } }[]
      }
      return !items?.some((item) => item.metadata.name === apiServiceName)
    })
  },
)

test('built-in group versions have the priorities of upstream', async (t) => {
  const cluster = await testCluster(t)
  const priorities = async (name: string) => {
    const { spec } = (await cluster.call('GET', `${apiServices}/${name}`)) as {
      spec?: { groupPriorityMinimum: number; versionPriority: number }
    }
    return [spec?.groupPriorityMinimum, spec?.versionPriority]
  }
  assert.deepEqual(await priorities('v1.'), [18000, 1])
  assert.deepEqual(await priorities('v1.apps'), [17800, 15])
  assert.deepEqual(await priorities('v2.autoscaling'), [17500, 30])
  assert.deepEqual(await priorities('v1.flowcontrol.apiserver.k8s.io'), [16100, 21])
})
