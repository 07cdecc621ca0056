import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { EndpointSlice, Service } from '../../../client/kinds.ts'
import type { Connection } from '../../netlink/connections.ts'
import { PictureOfServices } from '../picture/service-picture.ts'
import { StaleFlows } from './stale-flows.ts'

const client = '10.244.0.9'

/** A flow of a client to a frontend, which the kernel sends to `endpoint`. */
const flow = (frontend: string, endpoint: string): Connection => {
  const [destination = '', port] = frontend.split(' ')
  return {
    original: { source: client, sourcePort: 40_000, destination, destinationPort: Number(port) },
    reply: { source: endpoint, sourcePort: 53, destination: client, destinationPort: 40_000 },
  }
}

const service = (spec: Partial<NonNullable<Service['spec']>> = {}): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'default', name: 'dns' },
  spec: {
    type: 'NodePort',
    clusterIP: '10.96.0.10',
    externalIPs: ['192.0.2.1'],
    ports: [{ port: 53, protocol: 'UDP', nodePort: 30_053 }],
    ...spec,
  },
})

type Conditions = NonNullable<NonNullable<EndpointSlice['endpoints']>[number]['conditions']>

const slice = (endpoints: Readonly<Record<string, Conditions>>): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { namespace: 'default', name: 'dns-1', labels: { 'kubernetes.io/service-name': 'dns' } },
  addressType: 'IPv4',
  ports: [{ name: '', port: 53, protocol: 'UDP' }],
  endpoints: Object.entries(endpoints).map(([address, conditions]) => ({ addresses: [address], conditions })),
})

const ready = { ready: true }
const leaving = { ready: false, serving: true, terminating: true }

/** Flows in a table, and the picture that decides about them. */
function setUp(flows: readonly Connection[]) {
  const services = new PictureOfServices(4, { node: 'here', zone: '' })
  let table = [...flows]
  let searches = 0
  const stale = new StaleFlows({
    remove(isStale) {
      searches++
      const before = table.length
      table = table.filter((one) => !isStale(one))
      return before - table.length
    },
    hostAddresses: () => ['203.0.113.1', '127.0.0.1'],
  })
  let current: Service | undefined
  let slices: EndpointSlice | undefined
  return {
    set(one: Service | undefined, endpoints: EndpointSlice | undefined, isFull = false) {
      if (one !== current) services.setService(one, current)
      if (endpoints !== slices) services.setSlice(endpoints, slices)
      current = one
      slices = endpoints
      const changed = services.update()
      return stale.clean(services.picture, isFull ? 'all' : changed)
    },
    get endpoints() {
      return table.map(({ original, reply }) => `${original.destination}:${original.destinationPort} ${reply.source}`)
    },
    get searches() {
      return searches
    },
  }
}

const allFrontends = ['10.96.0.10 53', '192.0.2.1 53', '203.0.113.1 30053']

describe('UDP flows', () => {
  test('to an endpoint that was deleted are removed, by cluster IP, external IP and node port', () => {
    const table = setUp(
      allFrontends.flatMap((frontend) => [flow(frontend, '10.244.0.2'), flow(frontend, '10.244.0.3')]),
    )
    assert.equal(table.set(service(), slice({ '10.244.0.2': ready, '10.244.0.3': ready })), 0)
    assert.equal(table.set(service(), slice({ '10.244.0.3': ready })), 3)
    assert.deepEqual(table.endpoints, [
      '10.96.0.10:53 10.244.0.3',
      '192.0.2.1:53 10.244.0.3',
      '203.0.113.1:30053 10.244.0.3',
    ])
  })

  test('from before the Service had endpoints are removed: they are not translated', () => {
    const table = setUp([flow('10.96.0.10 53', '10.96.0.10'), flow('203.0.113.1 30053', '203.0.113.1')])
    assert.equal(table.set(service(), slice({ '10.244.0.2': ready })), 2)
  })

  test('to an endpoint that still serves while it terminates remain', () => {
    const table = setUp([flow('10.96.0.10 53', '10.244.0.2')])
    assert.equal(table.set(service(), slice({ '10.244.0.2': leaving, '10.244.0.3': ready })), 0)
  })

  test('remain if traffic policies would send new ones elsewhere', () => {
    const table = setUp([flow('10.96.0.10 53', '10.244.0.2')])
    assert.equal(table.set(service({ internalTrafficPolicy: 'Local' }), slice({ '10.244.0.2': ready })), 0)
  })

  test('of a Service that scales to no endpoint are removed', () => {
    const table = setUp([flow('10.96.0.10 53', '10.244.0.2')])
    assert.equal(table.set(service(), slice({ '10.244.0.2': ready })), 0)
    assert.equal(table.set(service(), slice({})), 1)
  })

  test('of a deleted Service are removed', () => {
    const table = setUp([flow('10.96.0.10 53', '10.244.0.2'), flow('10.96.0.10 53', '10.244.9.9')])
    table.set(service(), slice({ '10.244.0.2': ready, '10.244.9.9': ready }))
    assert.equal(table.set(undefined, slice({ '10.244.0.2': ready, '10.244.9.9': ready })), 2)
  })

  test('of a port that the Service has no more are removed', () => {
    const table = setUp([flow('203.0.113.1 30053', '10.244.0.2')])
    const endpoints = slice({ '10.244.0.2': ready })
    table.set(service(), endpoints)
    assert.equal(table.set(service({ type: 'ClusterIP', ports: [{ port: 53, protocol: 'UDP' }] }), endpoints), 1)
  })

  test('to a port number of another machine that equals a node port remain', () => {
    const table = setUp([flow('198.51.100.7 30053', '198.51.100.7')])
    assert.equal(table.set(service(), slice({ '10.244.0.2': ready })), 0)
  })

  test('to endpoints that serve outlive a restart of the proxy', () => {
    const table = setUp(allFrontends.map((frontend) => flow(frontend, '10.244.0.2')))
    assert.equal(table.set(service(), slice({ '10.244.0.2': ready }), true), 0)
    assert.equal(table.endpoints.length, 3)
  })
})

test('changes of Services without UDP cause no search', () => {
  const table = setUp([])
  const tcp = service({ ports: [{ port: 80, protocol: 'TCP' }] })
  assert.equal(table.set(tcp, undefined), undefined)
  assert.equal(table.searches, 0)
})
