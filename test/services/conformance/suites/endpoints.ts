/** Behaviours of the conformance suite for endpoints of Services (`test/e2e/network/{service,endpointslice}.go`). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice, Endpoints, Pod, Service } from '../../../../src/client/kinds.ts'
import { waitFor } from '../../../support/wait-for.ts'
import type { Clients } from '../support/clients.ts'
import { serverContainer } from '../support/probe-image.ts'
import { inServedNamespace, type ServedCluster, type ServedRequests } from '../support/served-cluster.ts'
import { createService } from '../support/services.ts'

export function endpointSuite(served: Promise<ServedCluster>, clients: Promise<Clients>): void {
  test('Services should serve a basic endpoint from pods', () => servesPods(served, clients))
  test('Services should serve multiport endpoints from pods', () => servesPorts(served, clients))
  test('Services should serve endpoints on same port and different protocols', () => servesProtocols(served, clients))
  test('EndpointSlice should create and delete EndpointSlices for a Service with a selector that matches no pods', () =>
    emptySlices(served))
  test('EndpointSlice should support a Service with multiple ports specified in multiple EndpointSlices', () =>
    slicesOfPorts(served, clients))
  test('EndpointSlice should support a Service with multiple endpoint IPs specified in multiple EndpointSlices', () =>
    slicesOfAddresses(served, clients))
}

const portsOf = (list: readonly { readonly port?: number; readonly protocol?: string }[] = []): string[] =>
  list.map(({ port, protocol }) => `${protocol}:${port}`)

/** Resolves when the Endpoints and the EndpointSlices of a Service are `ADDRESS PROTOCOL:PORT`, and no others. */
async function published({ api }: ServedRequests, service: string, ...expected: readonly string[]): Promise<void> {
  const wanted = expected.toSorted().join()
  const selector = encodeURIComponent(`kubernetes.io/service-name=${service}`)
  await waitFor(
    `${service} has ${wanted || 'no endpoints'}`,
    async () => {
      const { subsets = [] } = await api.get<Endpoints>(`${api.core}/endpoints/${service}`)
      const slices = await api.list<EndpointSlice>(
        `${api.group('discovery.k8s.io/v1')}/endpointslices?labelSelector=${selector}`,
      )
      const found = subsets.flatMap(({ addresses = [], ports }) =>
        addresses.flatMap(({ ip }) => portsOf(ports).map((port) => `${ip} ${port}`)),
      )
      // A slice without endpoints has null, as upstream's.
      const sliced = slices.flatMap(({ endpoints, ports }) =>
        (endpoints ?? [])
          .filter(({ conditions }) => conditions?.ready)
          .flatMap(({ addresses }) => portsOf(ports).map((port) => `${addresses[0]} ${port}`)),
      )
      return [found, sliced].every((list) => list.sort().join() === wanted)
    },
    { everyMs: 100 },
  )
}

/** The slice of a Service without pods exists, and the garbage collector deletes it with the Service. */
async function emptySlices(served: Promise<ServedCluster>): Promise<void> {
  const { api } = await inServedNamespace(served, 'no-pods')
  const service = { metadata: { name: 'example-empty-selector' }, apiVersion: 'v1', kind: 'Service' }
  const spec = { selector: { 'does-not-match-anything': 'true' }, ports: [{ name: 'example', port: 80 }] }
  await api.post(`${api.core}/services`, { ...service, spec })
  const selector = encodeURIComponent('kubernetes.io/service-name=example-empty-selector')
  const slices = () =>
    api.list<EndpointSlice>(`${api.group('discovery.k8s.io/v1')}/endpointslices?labelSelector=${selector}`)
  const [slice] = await waitFor('a slice', async () => {
    const found = await slices()
    return found.length > 0 && found
  })
  assert.equal(slice?.metadata.labels?.['endpointslice.kubernetes.io/managed-by'], 'endpointslice-controller.k8s.io')
  assert.deepEqual(slice?.endpoints ?? [], [])
  await api.delete(`${api.core}/services/example-empty-selector`)
  await waitFor('no slice', async () => (await slices()).length === 0, { everyMs: 100 })
}

const addressOf = ({ status }: Pod): string => status?.podIP ?? ''

async function servesPods(served: Promise<ServedCluster>, clients: Promise<Clients>): Promise<void> {
  const space = await inServedNamespace(served, 'basic')
  const labels = { app: 'basic' }
  const address = await createService(space, 'endpoint-test2', {
    selector: labels,
    ports: [{ name: 'http', port: 80, targetPort: 80 }],
  })
  const at = [address, 80] as const
  const pod = (name: string): Promise<Pod> => {
    const container = serverContainer(['http:80'], { ports: [{ containerPort: 80 }] })
    return space.pod(name, { containers: [container] }, labels)
  }
  const { pod: client } = await clients
  await published(space, 'endpoint-test2')
  await client.exactly(at)
  const first = await pod('pod1')
  await published(space, 'endpoint-test2', `${addressOf(first)} TCP:80`)
  await client.exactly(at, 'pod1')
  const second = await pod('pod2')
  await published(space, 'endpoint-test2', ...[first, second].map((one) => `${addressOf(one)} TCP:80`))
  await client.exactly(at, 'pod1', 'pod2')
  await space.remove('pod1')
  await published(space, 'endpoint-test2', `${addressOf(second)} TCP:80`)
  await client.exactly(at, 'pod2')
  await space.remove('pod2')
  await published(space, 'endpoint-test2')
  await client.exactly(at)
}

async function servesPorts(served: Promise<ServedCluster>, clients: Promise<Clients>): Promise<void> {
  const space = await inServedNamespace(served, 'multiport')
  const labels = { app: 'multiport' }
  const address = await createService(space, 'multi-endpoint-test', {
    selector: labels,
    ports: [
      { name: 'portname1', port: 80, targetPort: 'svc1' },
      { name: 'portname2', port: 81, targetPort: 'svc2' },
    ],
  })
  const pod = (name: string, portName: string, port: number): Promise<Pod> => {
    const container = serverContainer([`http:${port}`], { ports: [{ name: portName, containerPort: port }] })
    return space.pod(name, { containers: [container] }, labels)
  }
  const { pod: client } = await clients
  await published(space, 'multi-endpoint-test')
  const first = await pod('pod1', 'svc1', 100)
  await published(space, 'multi-endpoint-test', `${addressOf(first)} TCP:100`)
  const second = await pod('pod2', 'svc2', 101)
  await published(space, 'multi-endpoint-test', `${addressOf(first)} TCP:100`, `${addressOf(second)} TCP:101`)
  await client.exactly([address, 80], 'pod1')
  await client.exactly([address, 81], 'pod2')
  await space.remove('pod1')
  await published(space, 'multi-endpoint-test', `${addressOf(second)} TCP:101`)
  await client.exactly([address, 81], 'pod2')
  await space.remove('pod2')
  await published(space, 'multi-endpoint-test')
}

async function servesProtocols(served: Promise<ServedCluster>, clients: Promise<Clients>): Promise<void> {
  const space = await inServedNamespace(served, 'multiprotocol')
  const { api } = space
  const labels = { app: 'multiprotocol' }
  const tcp = { name: 'tcp-port', port: 80, protocol: 'TCP', targetPort: 80 }
  const udp = { name: 'udp-port', port: 80, protocol: 'UDP', targetPort: 80 }
  const address = await createService(space, 'multiprotocol-test', { selector: labels, ports: [tcp, udp] })
  const ports = [
    { containerPort: 80, protocol: 'TCP' },
    { containerPort: 80, protocol: 'UDP' },
  ]
  const pod = await space.pod('pod1', { containers: [serverContainer(['http:80', 'udp:80'], { ports })] }, labels)
  const { pod: client } = await clients
  const choose = (...chosen: readonly object[]) =>
    api.update<Service>(`${api.core}/services/multiprotocol-test`, (it) => ({
      ...it,
      spec: { ...it.spec, ports: chosen },
    }))
  await published(space, 'multiprotocol-test', `${addressOf(pod)} TCP:80`, `${addressOf(pod)} UDP:80`)
  await client.exactly([address, 80], 'pod1')
  await client.exactly([address, 80, 'udp'], 'pod1')
  await choose(tcp)
  await published(space, 'multiprotocol-test', `${addressOf(pod)} TCP:80`)
  await client.exactly([address, 80], 'pod1')
  await client.exactly([address, 80, 'udp'])
  await choose(udp)
  await published(space, 'multiprotocol-test', `${addressOf(pod)} UDP:80`)
  await client.exactly([address, 80, 'udp'], 'pod1')
  await client.exactly([address, 80])
}

const twoPorts = {
  ports: [
    { name: 'port80', port: 80, protocol: 'TCP' },
    { name: 'port81', port: 81, protocol: 'TCP' },
  ],
}

/** Creates a slice of a Service by hand. */
async function createSlice({ api }: ServedRequests, name: string, address: string, ports: readonly [string, number]) {
  await api.post(`${api.group('discovery.k8s.io/v1')}/endpointslices`, {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name,
      labels: {
        'kubernetes.io/service-name': 'example-custom-endpoints',
        'endpointslice.kubernetes.io/managed-by': 'e2e-test',
      },
    },
    addressType: 'IPv4',
    endpoints: [{ addresses: [address] }],
    ports: [{ name: ports[0], port: ports[1], protocol: 'TCP' }],
  })
}

async function slicesOfPorts(served: Promise<ServedCluster>, clients: Promise<Clients>): Promise<void> {
  const space = await inServedNamespace(served, 'slices-of-ports')
  const address = await createService(space, 'example-custom-endpoints', twoPorts)
  const containers = [serverContainer(['http:8090'], { name: 'one' }), serverContainer(['http:9090'], { name: 'two' })]
  const pod = await space.pod('pod-handle-http-request', { containers })
  await createSlice(space, 'custom1', addressOf(pod), ['port80', 8090])
  await createSlice(space, 'custom2', addressOf(pod), ['port81', 9090])
  const { pod: client } = await clients
  await client.exactly([address, 80], 'pod-handle-http-request')
  await client.exactly([address, 81], 'pod-handle-http-request')
}

async function slicesOfAddresses(served: Promise<ServedCluster>, clients: Promise<Clients>): Promise<void> {
  const space = await inServedNamespace(served, 'slices-of-addresses')
  const address = await createService(space, 'example-custom-endpoints', twoPorts)
  const [one, two] = await Promise.all([
    space.pod('pod1-handle-http-request', { containers: [serverContainer(['http:8090'])] }),
    space.pod('pod2-handle-http-request', { containers: [serverContainer(['http:9090'])] }),
  ])
  await createSlice(space, 'custom1', addressOf(one), ['port80', 8090])
  await createSlice(space, 'custom2', addressOf(two), ['port81', 9090])
  const { pod: client } = await clients
  await client.exactly([address, 80], 'pod1-handle-http-request')
  await client.exactly([address, 81], 'pod2-handle-http-request')
}
