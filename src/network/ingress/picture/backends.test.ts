import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { EndpointSlice, Service } from '../../../client/kinds.ts'
import { Backends, type EndpointAddress, type Target, type Unusable } from './backends.ts'

const service = (spec: Service['spec'] = {}): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'default', name: 'web' },
  spec: { ports: [{ name: 'http', port: 80 }], ...spec },
})

type SliceEndpoint = NonNullable<EndpointSlice['endpoints']>[number]
const slice = (endpoints: SliceEndpoint[]): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { namespace: 'default', name: 'web-1', labels: { 'kubernetes.io/service-name': 'web' } },
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  endpoints,
})
const ready = (address: string): SliceEndpoint => ({ addresses: [address] })
const leaving = (address: string): SliceEndpoint => ({
  addresses: [address],
  conditions: { ready: false, serving: true, terminating: true },
})

/** Backends of one Service, whose objects a test may replace. */
class World {
  service: Service | undefined
  slices: EndpointSlice[]
  readonly retired: string[] = []
  readonly backends = new Backends(
    { service: () => this.service, slices: () => this.slices },
    ({ address, port }: EndpointAddress) => this.retired.push(`${address}:${port}`),
  )

  constructor(one: Service | undefined, endpoints: SliceEndpoint[]) {
    this.service = one
    this.slices = [slice(endpoints)]
  }

  resolve(port: number | string = 80, isGrpc = false): Target | Unusable {
    return this.backends.resolve({ namespace: 'default', name: 'web', port, isGrpc })
  }

  addresses(port: number | string = 80): string[] {
    const target = this.resolve(port)
    return 'endpoints' in target ? target.endpoints.map(({ address, port: number }) => `${address}:${number}`) : []
  }
}

describe('the endpoints of a backend', () => {
  test('are the ready ones, by the number or the name of the port', () => {
    const world = new World(service(), [ready('10.0.0.2'), leaving('10.0.0.1')])
    assert.deepEqual(world.addresses(80), ['10.0.0.2:8080'])
    assert.deepEqual(world.addresses('http'), ['10.0.0.2:8080'])
  })

  test('are those that serve while they terminate, if none is ready', () => {
    const stopped: SliceEndpoint = { addresses: ['10.0.0.3'], conditions: { ready: false, serving: false } }
    assert.deepEqual(new World(service(), [leaving('10.0.0.1'), stopped]).addresses(), ['10.0.0.1:8080'])
  })

  test('follow changes; those that are not used any more are retired', () => {
    const world = new World(service(), [ready('10.0.0.1'), ready('10.0.0.2')])
    assert.equal(world.addresses().length, 2)
    world.slices = [slice([ready('10.0.0.2'), ready('10.0.0.3')])]
    world.backends.refresh('default', 'web')
    assert.deepEqual(world.addresses(), ['10.0.0.2:8080', '10.0.0.3:8080'])
    assert.deepEqual(world.retired, ['10.0.0.1:8080'])
  })
})

test('a backend without endpoints says why', () => {
  const faultOf = (world: World, port: number | string = 80): string => {
    const target = world.resolve(port)
    assert('fault' in target)
    return target.fault
  }
  assert.match(faultOf(new World(undefined, [])), /^Service default\/web does not exist: create it/)
  assert.match(faultOf(new World(service(), [])), /^Service default\/web has no ready endpoints: see kubectl/)
  assert.match(faultOf(new World(service(), []), 'metrics'), /^Service default\/web has no TCP port metrics/)
  assert.match(faultOf(new World(service({ type: 'ExternalName' }), [])), /has type ExternalName/)
})

test('the protocol is HTTP/2 for gRPC, and for ports that say so', () => {
  const protocolOf = (appProtocol?: string, isGrpc = false): string => {
    const ports = [{ name: 'http', port: 80, appProtocol }]
    const target = new World(service({ ports }), [ready('10.0.0.1')]).resolve(80, isGrpc)
    assert('protocol' in target)
    return target.protocol
  }
  assert.equal(protocolOf(), 'http/1.1')
  assert.equal(protocolOf('kubernetes.io/ws'), 'http/1.1')
  assert.equal(protocolOf('kubernetes.io/h2c'), 'h2c')
  assert.equal(protocolOf('grpc'), 'h2c')
  assert.equal(protocolOf(undefined, true), 'h2c')
})
