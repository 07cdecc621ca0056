/** How the server calls conversion webhooks: Services, certificates and versions of reviews. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { machineAddress } from '../aggregator/orchard.ts'
import { apiControllers, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { conversionWebhook, define, get, redefine, service, widgetsPath } from './webhook.ts'
import { widget } from './widgets.ts'

test('a webhook behind an ExternalName Service is called at its external name and the given path', async (t) => {
  const [cluster, webhook] = await Promise.all([testCluster(t, { controllers: apiControllers }), conversionWebhook(t)])
  const clientConfig = { service: { ...service, path: '/path/of/it', port: webhook.port }, caBundle: webhook.caBundle }
  await define(cluster, { clientConfig })
  await cluster.call('POST', widgetsPath('v1'), widget('v1', 'a', { hostPort: 'a:1' }))
  await assert.rejects(
    get(cluster, 'v2', 'a'),
    new RegExp(
      String.raw`failed: Post \\"https://converter\.default\.svc:\d+/path/of/it\?timeout=30s\\": ` +
        String.raw`service \\"converter\\" not found`,
    ),
  )
  await cluster.call('POST', '/api/v1/namespaces/default/services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: service.name },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  })
  assert.deepEqual((await get(cluster, 'v2', 'a')).spec, { host: 'a', port: 1 })
  assert.equal((await webhook.takeReviews())[0]?.url, '/path/of/it?timeout=30s')
})

test('a webhook behind a Service is called at an address of its EndpointSlices', async (t) => {
  const ip = machineAddress()
  if (!ip) return t.skip('this machine has only loopback addresses')
  const [cluster, webhook] = await Promise.all([testCluster(t, { controllers: apiControllers }), conversionWebhook(t)])
  const serviceOf = (name: string) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { ports: [{ name: 'https', port: 443 }] },
  })
  const sliceOf = (name: string) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [ip], conditions: { ready: true } }],
    ports: [{ name: 'https', port: webhook.port }],
  })
  for (const name of [service.name, 'another']) {
    await cluster.call('POST', '/api/v1/namespaces/default/services', serviceOf(name))
    await cluster.call('POST', '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', sliceOf(name))
  }
  await define(cluster, { clientConfig: { service, caBundle: webhook.caBundle } })
  await cluster.call('POST', widgetsPath('v1'), widget('v1', 'a', { hostPort: 'a:1' }))
  assert.deepEqual((await get(cluster, 'v2', 'a')).spec, { host: 'a', port: 1 })
  assert.deepEqual(
    (await webhook.takeReviews()).map(({ url, headers }) => [url, headers.host]),
    [['/?timeout=30s', 'converter.default.svc']],
  )
  // The other Service leads to the same process, whose certificate lacks the name of that Service.
  await redefine(cluster, { clientConfig: { service: { ...service, name: 'another' }, caBundle: webhook.caBundle } })
  await waitFor('the certificate is rejected', async () => {
    const result = await get(cluster, 'v2', 'a').catch(String)
    return /another\.default\.svc:443\/\?timeout=30s.*tls: failed to verify certificate: x509:/.test(String(result))
  })
})

test('a webhook whose certificate the CA bundle did not sign is not called', async (t) => {
  const [cluster, webhook, other] = await Promise.all([
    testCluster(t, { controllers: apiControllers }),
    conversionWebhook(t),
    conversionWebhook(t),
  ])
  await define(cluster, { clientConfig: { ...webhook.clientConfig, caBundle: other.caBundle } })
  await cluster.call('POST', widgetsPath('v1'), widget('v1', 'a', { hostPort: 'a:1' }))
  await assert.rejects(
    get(cluster, 'v2', 'a'),
    /tls: failed to verify certificate: x509: certificate signed by unknown authority/,
  )
  assert.deepEqual(await webhook.takeReviews(), [])
})

test('the first supported version of conversionReviewVersions is sent', async (t) => {
  const [cluster, webhook] = await Promise.all([testCluster(t, { controllers: apiControllers }), conversionWebhook(t)])
  await define(cluster, { clientConfig: webhook.clientConfig, conversionReviewVersions: ['v1alpha1', 'v1beta1', 'v1'] })
  await cluster.call('POST', widgetsPath('v1'), widget('v1', 'a', { hostPort: 'a:1' }))
  await webhook.setBehavior('another uid')
  assert.deepEqual((await get(cluster, 'v2', 'a')).spec, { host: 'a', port: 1 })
  assert.deepEqual(
    (await webhook.takeReviews()).map(({ apiVersion }) => apiVersion),
    ['apiextensions.k8s.io/v1beta1'],
  )
})
