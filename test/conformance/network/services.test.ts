/** Tests of the conformance suite for Services (`test/e2e/network/service.go`) that need no network traffic. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { EndpointSlice, Endpoints, Service } from '../../../src/client/kinds.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { names, Requests } from '../support/requests.ts'

const cluster = testCluster({ after }, { nodes: 2 })
const requests = async (namespace: string): Promise<Requests> => Requests.in(await cluster, namespace)

const service = (name: string, spec: object, labels: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, creationTimestamp: null, labels },
  spec,
  status: { loadBalancer: {} },
})

test('Services should complete a service status lifecycle', async () => {
  const api = await requests('service-status')
  const path = `${api.core}/services/test-service`
  const version =
    (await api.get('/api/v1/services?labelSelector=test-service-static%3Dtrue')).metadata.resourceVersion ?? ''
  const watched = await api.watch<Service>(`${api.core}/services`, {
    labelSelector: 'test-service-static=true',
    resourceVersion: version,
  })
  try {
    const ports = [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 80 }]
    await api.post(
      `${api.core}/services`,
      service('test-service', { type: 'LoadBalancer', ports }, { 'test-service-static': 'true' }),
    )
    await watched.next('the addition', ({ type }) => type === 'ADDED')
    assert.deepEqual((await api.get<Service>(`${path}/status`)).status?.loadBalancer, {})
    const loadBalancer = { ingress: [{ ip: '203.0.113.1' }] }
    await api.patch(`${path}/status`, {
      metadata: { annotations: { patchedstatus: 'true' } },
      status: { loadBalancer },
    })
    const patched = await watched.next(
      'the patch',
      ({ object }) => object.metadata.annotations?.patchedstatus === 'true',
    )
    assert.deepEqual(patched.status?.loadBalancer, { ingress: [{ ip: '203.0.113.1', ipMode: 'VIP' }] })
    // Without a lastTransitionTime: Go's zero time is null on the wire.
    const condition = {
      type: 'StatusUpdate',
      status: 'True',
      lastTransitionTime: null,
      reason: 'E2E',
      message: 'Set from e2e test',
    }
    await api.update<Service>(
      path,
      (it) => ({ ...it, status: { ...it.status, conditions: [condition] } }),
      `${path}/status`,
    )
    await watched.next(
      'the update',
      ({ object }) => object.status?.conditions?.some(({ type }) => type === 'StatusUpdate') ?? false,
    )
    await api.patch(
      path,
      {
        metadata: { creationTimestamp: null, labels: { 'test-service': 'patched' } },
        spec: {},
        status: { loadBalancer: {} },
      },
      'strategic',
    )
    const relabelled = await watched.next(
      'the label',
      ({ object }) => object.metadata.labels?.['test-service'] === 'patched',
    )
    assert.deepEqual(relabelled.status?.loadBalancer?.ingress?.length, 1)
    await api.delete(path)
    await watched.next('the deletion', ({ type }) => type === 'DELETED')
  } finally {
    watched.stop()
  }
})

test('Services should delete a collection of services', async () => {
  const api = await requests('service-collection')
  const path = `${api.core}/services`
  const port = (number: number) => ({ type: 'ClusterIP', ports: [{ name: 'http', port: number, targetPort: number }] })
  await api.post(path, service('e2e-svc-a', port(8001), { 'e2e-test-service': 'delete' }))
  await api.post(path, service('e2e-svc-b', port(8002), { 'e2e-test-service': 'delete' }))
  await api.post(path, service('e2e-svc-c', port(8003), { 'e2e-test-service': 'keep' }))
  assert.equal((await api.list(path)).length, 3)
  await api.delete(`${path}?labelSelector=e2e-test-service%3Ddelete`)
  assert.deepEqual(names(await api.list(path)), ['e2e-svc-c'])
})

test('Services should find a service from listing all namespaces', async () => {
  const api = await requests('service-list')
  const found = (await api.list('/api/v1/services')).find(({ metadata }) => metadata.name === 'kubernetes')
  assert.equal(found?.metadata.namespace, 'default')
})

test('API Server should provide secure master service', async () => {
  const api = await requests('service-kubernetes')
  const { spec } = await api.get<Service>('/api/v1/namespaces/default/services/kubernetes')
  assert.ok(spec?.ports?.some(({ name, port, protocol }) => name === 'https' && port === 443 && protocol === 'TCP'))
})

test('API Server should have Endpoints and EndpointSlices pointing to API Server', async () => {
  const api = await requests('api-server-endpoints')
  const at = '/api/v1/namespaces/default'
  const { subsets } = await api.get<Endpoints>(`${at}/endpoints/kubernetes`)
  assert.equal(subsets?.length, 1)
  const slices = await api.list<EndpointSlice>(
    '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io/service-name%3Dkubernetes',
  )
  assert.ok(slices.length > 0)
  for (const { addressType, ports } of slices) {
    assert.equal(addressType, 'IPv4')
    assert.ok(ports?.some(({ port }) => port === subsets?.[0]?.ports?.[0]?.port))
  }
})

const changes: readonly (readonly [string, object, object, (spec: NonNullable<Service['spec']>) => void])[] = [
  [
    'ExternalName to ClusterIP',
    { type: 'ExternalName', externalName: 'foo.example.com' },
    { type: 'ClusterIP', externalName: undefined, ports: [{ port: 80, name: 'http', protocol: 'TCP' }] },
    (spec) => assert.match(spec.clusterIP ?? '', /^\d+\.\d+\.\d+\.\d+$/),
  ],
  [
    'ExternalName to NodePort',
    { type: 'ExternalName', externalName: 'foo.example.com' },
    { type: 'NodePort', externalName: undefined, ports: [{ port: 80, name: 'http', protocol: 'TCP' }] },
    (spec) => assert.ok(spec.clusterIP && spec.ports?.[0]?.nodePort),
  ],
  [
    'ClusterIP to ExternalName',
    { type: 'ClusterIP', ports: [{ port: 80, name: 'http', protocol: 'TCP' }] },
    { type: 'ExternalName', externalName: 'a.b.svc.cluster.local' },
    (spec) => assert.equal(spec.clusterIP ?? '', ''),
  ],
  [
    'NodePort to ExternalName',
    { type: 'NodePort', ports: [{ port: 80, name: 'http', protocol: 'TCP' }] },
    { type: 'ExternalName', externalName: 'a.b.svc.cluster.local' },
    (spec) => assert.deepEqual([spec.clusterIP ?? '', spec.ports?.[0]?.nodePort], ['', undefined]),
  ],
]

for (const [index, [what, before, wanted, holds]] of changes.entries())
  test(`Services should be able to change the type from ${what}`, async () => {
    const api = await requests(`service-type-${index}`)
    const created = await api.post<Service>(`${api.core}/services`, service('changed', before))
    assert.equal(Boolean(created.spec?.clusterIP), !what.startsWith('ExternalName'))
    // The suite retains fields of the old type in the object, and removes those that the new type must not have.
    const updated = await api.update<Service>(`${api.core}/services/changed`, (it) => ({
      ...it,
      spec: { ...it.spec, ...wanted },
    }))
    assert.ok(updated.spec)
    holds(updated.spec)
  })

for (const [type, which] of [
  ['ClusterIP', 'service with type clusterIP'],
  ['NodePort', 'NodePort service'],
])
  test(
    `Services should have session affinity work for ${which}, and be ` + `able to switch session affinity for ${which}`,
    async () => {
      const api = await requests(`affinity-${type?.toLowerCase()}`)
      const path = `${api.core}/services/affine`
      const ports = [{ port: 80, name: 'http', protocol: 'TCP', targetPort: 9376 }]
      const created = await api.post<Service>(
        `${api.core}/services`,
        service('affine', { type, ports, sessionAffinity: 'ClientIP', selector: { app: 'a' } }),
      )
      assert.deepEqual(created.spec?.sessionAffinityConfig, { clientIP: { timeoutSeconds: 10800 } })
      assert.equal(Boolean(created.spec?.ports?.[0]?.nodePort), type === 'NodePort')
      const none = await api.update<Service>(path, (it) => ({ ...it, spec: { ...it.spec, sessionAffinity: 'None' } }))
      assert.deepEqual([none.spec?.sessionAffinity, none.spec?.sessionAffinityConfig], ['None', undefined])
      const again = await api.update<Service>(path, (it) => ({
        ...it,
        spec: { ...it.spec, sessionAffinity: 'ClientIP' },
      }))
      assert.deepEqual(again.spec?.sessionAffinityConfig, { clientIP: { timeoutSeconds: 10800 } })
    },
  )

test('Services should serve endpoints on same port and different protocols', async () => {
  const api = await requests('service-protocols')
  const path = `${api.core}/services/multiprotocol-test`
  const tcp = { name: 'tcp-port', port: 80, protocol: 'TCP', targetPort: 80 }
  const udp = { name: 'udp-port', port: 80, protocol: 'UDP', targetPort: 80 }
  await api.post(
    `${api.core}/services`,
    service('multiprotocol-test', { type: 'ClusterIP', ports: [tcp, udp], selector: { app: 'a' } }),
  )
  await api.post(`${api.core}/pods`, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', labels: { app: 'a' } },
    spec: {
      containers: [
        {
          name: 'a',
          image: 'agnhost:1',
          ports: [
            { containerPort: 80, protocol: 'TCP' },
            { containerPort: 80, protocol: 'UDP' },
          ],
        },
      ],
    },
  })
  const served = (...protocols: readonly string[]) =>
    waitFor(`${protocols}`, async () => {
      const { subsets } = await api.get<Endpoints>(`${api.core}/endpoints/multiprotocol-test`)
      const slices = await api.list<EndpointSlice>(`${api.group('discovery.k8s.io/v1')}/endpointslices`)
      const found = [
        subsets?.[0]?.addresses?.length ? subsets[0].ports : [],
        ...slices.map(({ endpoints, ports }) => (endpoints?.length ? ports : [])),
      ]
      return (
        found.length === 2 &&
        found.every(
          (ports) =>
            ports
              ?.map(({ protocol }) => protocol)
              .sort()
              .join() === protocols.join(),
        )
      )
    })
  await served('TCP', 'UDP')
  await api.update<Service>(path, (it) => ({ ...it, spec: { ...it.spec, ports: [tcp] } }))
  await served('TCP')
  await api.update<Service>(path, (it) => ({ ...it, spec: { ...it.spec, ports: [udp] } }))
  await served('UDP')
})
