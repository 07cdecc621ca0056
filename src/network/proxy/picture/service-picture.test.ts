import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { EndpointSlice, Service } from '../../../client/kinds.ts'
import { endpointText } from './endpoint.ts'
import { PictureOfServices, type ProxiedPort } from './service-picture.ts'
import { portText } from './service-port.ts'

const service = (spec: Partial<NonNullable<Service['spec']>> = {}, rest: Partial<Service> = {}): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'default', name: 'web' },
  spec: {
    clusterIP: '10.96.0.7',
    clusterIPs: ['10.96.0.7', 'fd00::7'],
    ports: [{ port: 80, protocol: 'TCP' }],
    ...spec,
  },
  ...rest,
})

type SliceEndpoint = NonNullable<EndpointSlice['endpoints']>[number]
const endpoint = (address: string, rest: Partial<SliceEndpoint> = {}): SliceEndpoint => ({
  addresses: [address],
  ...rest,
})

const slice = (endpoints: SliceEndpoint[], name = 'web-1', rest: Partial<EndpointSlice> = {}): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { namespace: 'default', name, labels: { 'kubernetes.io/service-name': 'web' } },
  addressType: 'IPv4',
  ports: [{ name: '', port: 8080, protocol: 'TCP' }],
  endpoints,
  ...rest,
})

function pictureOf(one: Service, slices: EndpointSlice[], family: 4 | 6 = 4, zone = ''): PictureOfServices {
  const picture = new PictureOfServices(family, { node: 'here', zone })
  picture.setService(one, undefined)
  for (const each of slices) picture.setSlice(each, undefined)
  picture.update()
  return picture
}

function portOf(...args: Parameters<typeof pictureOf>): ProxiedPort {
  const [port] = pictureOf(...args).picture.get('default/web') ?? []
  assert(port)
  return port
}

const texts = (port: ProxiedPort, kind: 'cluster' | 'local' | 'reachable' = 'cluster'): string[] =>
  port.endpoints[kind].map(endpointText)

const leaving = { conditions: { ready: false, serving: true, terminating: true } }

describe('the endpoints of a port', () => {
  test('are those that are ready, in the order of their addresses', () => {
    const port = portOf(service(), [
      slice([endpoint('10.1.0.9'), endpoint('10.1.0.2', { conditions: { ready: false } }), endpoint('10.1.0.3')]),
    ])
    assert.deepEqual(texts(port), ['10.1.0.3:8080', '10.1.0.9:8080'])
    assert.equal(portText(port), 'default/web')
  })

  test('are those that serve while they terminate, if none is ready', () => {
    const slices = [slice([endpoint('10.1.0.1', leaving), endpoint('10.1.0.2', { conditions: { ready: false } })])]
    assert.deepEqual(texts(portOf(service(), slices)), ['10.1.0.1:8080'])
    const ready = [slice([endpoint('10.1.0.1', leaving), endpoint('10.1.0.3')])]
    assert.deepEqual(texts(portOf(service(), ready)), ['10.1.0.3:8080'])
  })

  test('occur once if two slices have them, and are ready if one of the slices says so', () => {
    const notReady = slice([endpoint('10.1.0.1', { conditions: { ready: false } })], 'web-2')
    assert.deepEqual(texts(portOf(service(), [slice([endpoint('10.1.0.1')]), notReady])), ['10.1.0.1:8080'])
    assert.deepEqual(texts(portOf(service(), [notReady, slice([endpoint('10.1.0.1')])])), ['10.1.0.1:8080'])
  })

  test('belong to the port with their name and protocol', () => {
    const ports = [
      { name: 'dns', port: 53, protocol: 'UDP' },
      { name: 'dns-tcp', port: 53, protocol: 'TCP' },
    ]
    const numbers = ports.map((port, index) => ({ ...port, port: 5300 + index }))
    const picture = pictureOf(service({ ports }), [slice([endpoint('10.1.0.1')], 'web-1', { ports: numbers })])
    const found = picture.picture.get('default/web') ?? []
    assert.deepEqual(
      found.map((port) => [port.protocol, ...texts(port)]),
      [
        ['UDP', '10.1.0.1:5300'],
        ['TCP', '10.1.0.1:5301'],
      ],
    )
  })

  test('are of the family of the picture', () => {
    const six = slice([endpoint('fd00:1::1')], 'web-6', { addressType: 'IPv6' })
    const port = portOf(service(), [slice([endpoint('10.1.0.1')]), six], 6)
    assert.equal(port.clusterIP, 'fd00::7')
    assert.deepEqual(texts(port), ['[fd00:1::1]:8080'])
  })
})

describe('traffic policies', () => {
  const slices = [slice([endpoint('10.1.0.1', { nodeName: 'here' }), endpoint('10.2.0.1', { nodeName: 'there' })])]

  test('internal Local uses endpoints of this node only', () => {
    const port = portOf(service({ internalTrafficPolicy: 'Local' }), slices)
    assert.deepEqual([texts(port), texts(port, 'local')], [[], ['10.1.0.1:8080']])
    assert(port.endpoints.hasAny)
  })

  test('external Local keeps all endpoints for the cluster IP', () => {
    const ports = [{ port: 80, protocol: 'TCP', nodePort: 30_080 }]
    const port = portOf(service({ type: 'NodePort', externalTrafficPolicy: 'Local', ports }), slices)
    assert.deepEqual(texts(port), ['10.1.0.1:8080', '10.2.0.1:8080'])
    assert.deepEqual(texts(port, 'local'), ['10.1.0.1:8080'])
    assert.deepEqual(texts(port, 'reachable'), ['10.1.0.1:8080', '10.2.0.1:8080'])
  })

  test('Local uses a terminating endpoint of this node while the last one leaves', () => {
    const last = [
      slice([endpoint('10.1.0.1', { nodeName: 'here', ...leaving }), endpoint('10.2.0.1', { nodeName: 'there' })]),
    ]
    const port = portOf(service({ internalTrafficPolicy: 'Local' }), last)
    assert.deepEqual(texts(port, 'local'), ['10.1.0.1:8080'])
  })
})

describe('hints of topology', () => {
  const near = (zone: string): Partial<SliceEndpoint> => ({ hints: { forZones: [{ name: zone }] } })

  test('select the endpoints of the zone', () => {
    const slices = [slice([endpoint('10.1.0.1', near('a')), endpoint('10.2.0.1', near('b'))])]
    assert.deepEqual(texts(portOf(service(), slices, 4, 'b')), ['10.2.0.1:8080'])
    assert.equal(texts(portOf(service(), slices, 4, 'c')).length, 2, 'no endpoint is for the zone')
    assert.equal(texts(portOf(service(), slices, 4)).length, 2, 'the node has no zone')
  })

  test('are ignored if an endpoint has none', () => {
    const slices = [slice([endpoint('10.1.0.1', near('a')), endpoint('10.2.0.1')])]
    assert.equal(texts(portOf(service(), slices, 4, 'a')).length, 2)
  })

  test('for nodes come before those for zones', () => {
    const both = (node: string): Partial<SliceEndpoint> => ({
      hints: { forZones: [{ name: 'a' }], forNodes: [{ name: node }] },
    })
    const slices = [slice([endpoint('10.1.0.1', both('here')), endpoint('10.2.0.1', both('there'))])]
    assert.deepEqual(texts(portOf(service(), slices, 4, 'a')), ['10.1.0.1:8080'])
  })

  test('change with the zone of the node', () => {
    const picture = pictureOf(service(), [slice([endpoint('10.1.0.1', near('a')), endpoint('10.2.0.1', near('b'))])])
    picture.setTopology({ node: 'here', zone: 'a' })
    assert.deepEqual([...picture.update()], ['default/web'])
    assert.equal(picture.picture.get('default/web')?.[0]?.endpoints.cluster.length, 1)
  })
})

describe('the picture', () => {
  test('leaves out headless Services, ExternalName and Services of other proxies', () => {
    const label = { 'service.kubernetes.io/service-proxy-name': 'other' }
    for (const one of [
      service({ clusterIP: 'None', clusterIPs: ['None'] }),
      service({ type: 'ExternalName', externalName: 'example.com', clusterIP: '', clusterIPs: [] }),
      service({}, { metadata: { namespace: 'default', name: 'web', labels: label } }),
    ])
      assert.equal(pictureOf(one, [slice([endpoint('10.1.0.1')])]).picture.size, 0)
  })

  test('has addresses of load balancers that keep the destination, and source ranges of the family', () => {
    const port = portOf(
      service(
        { type: 'LoadBalancer', loadBalancerSourceRanges: ['192.0.2.0/24', '2001:db8::/32'] },
        { status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }, { ip: '192.0.2.2', ipMode: 'Proxy' }] } } },
      ),
      [],
    )
    assert.deepEqual(port.loadBalancerIPs, ['192.0.2.1'])
    assert.deepEqual(port.loadBalancerSourceRanges, ['192.0.2.0/24'])
    assert.equal(port.endpoints.hasAny, false)
  })

  test('names only the Services that changed', () => {
    const picture = pictureOf(service(), [slice([endpoint('10.1.0.1')])])
    assert.deepEqual([...picture.update()], [])
    const before = slice([endpoint('10.1.0.1')])
    const moved = slice([endpoint('10.1.0.1')])
    const labels = { 'kubernetes.io/service-name': 'other' }
    picture.setSlice({ ...moved, metadata: { ...moved.metadata, labels } }, before)
    assert.deepEqual([...picture.update()], ['default/web'], 'there is no Service other')
    picture.setService(undefined, service())
    picture.update()
    assert.equal(picture.picture.size, 0)
  })

  test('removes a deleted slice', () => {
    const picture = pictureOf(service(), [slice([endpoint('10.1.0.1')])])
    picture.setSlice(undefined, slice([endpoint('10.1.0.1')]))
    picture.update()
    assert.equal(picture.picture.get('default/web')?.[0]?.endpoints.hasAny, false)
  })
})
