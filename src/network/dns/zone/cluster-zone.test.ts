import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { EndpointSlice, Namespace, Service } from '../../../client/kinds.ts'
import { rcodeText, types } from '../wire/record-types.ts'
import type { DnsRecord } from '../wire/response.ts'
import { ClusterObjects } from './cluster-objects.ts'
import { ClusterZone, type PodRecords } from './cluster-zone.ts'
import { addressOfReverseName } from './reverse-names.ts'

const namespace: Namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }

const service = (name: string, spec: Service['spec'] = {}): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'default', name },
  spec: { ports: [{ name: 'http', port: 80, protocol: 'TCP' }], ...spec },
})

const slice = (of: string, endpoints: EndpointSlice['endpoints'], addressType = 'IPv4'): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { namespace: 'default', name: `${of}-${addressType}`, labels: { 'kubernetes.io/service-name': of } },
  addressType,
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  endpoints,
})

function zoneOf(pods: PodRecords = 'insecure') {
  const objects = new ClusterObjects()
  objects.setNamespace(namespace, undefined)
  objects.setService(service('web', { clusterIP: '10.96.0.7', clusterIPs: ['10.96.0.7', 'fd00::7'] }), undefined)
  objects.setService(service('db', { clusterIP: 'None', clusterIPs: ['None'] }), undefined)
  objects.setService(service('out', { type: 'ExternalName', externalName: 'Example.com.' }), undefined)
  const endpoints = [
    { addresses: ['10.244.0.3'], hostname: 'db-0' },
    { addresses: ['10.244.0.4'] },
    { addresses: ['10.244.0.5'], conditions: { ready: false } },
  ]
  objects.setSlice(slice('db', endpoints), undefined)
  objects.setSlice(slice('web', [{ addresses: ['10.244.0.9'], hostname: 'web-0' }]), undefined)
  const zone = new ClusterZone({ objects, domain: 'cluster.local', ttl: 30, pods })
  return { objects, zone }
}

const textOf = (record: DnsRecord): string => {
  if ('address' in record) return record.address
  if (record.type === 'SRV') return `${record.weight} ${record.port} ${record.target}`
  if ('target' in record) return record.target
  return record.type === 'SOA' ? record.server : record.text
}

function ask(name: string, type: keyof typeof types, { zone } = zoneOf()): string {
  const { rcode, answers } = zone.answer(name === '' ? [] : name.split('.'), types[type])
  return answers.length > 0 ? answers.map(textOf).join(', ') : rcodeText(rcode)
}

describe('names of Services', () => {
  for (const [name, type, expected] of [
    ['web.default.svc', 'A', '10.96.0.7'],
    ['web.default.svc', 'AAAA', 'fd00::7'],
    ['web.default.svc', 'TXT', 'NOERROR'],
    ['_http._tcp.web.default.svc', 'SRV', '100 80 web.default.svc.cluster.local'],
    ['_http._udp.web.default.svc', 'SRV', 'NXDOMAIN'],
    ['_tcp.web.default.svc', 'SRV', 'NOERROR'],
    ['web-0.web.default.svc', 'A', '10.244.0.9'],
    ['none.default.svc', 'A', 'NXDOMAIN'],
    ['web.other.svc', 'A', 'NXDOMAIN'],
    ['default.svc', 'A', 'NOERROR'],
    ['other.svc', 'A', 'NXDOMAIN'],
    ['svc', 'A', 'NOERROR'],
    ['a.b.web.default.svc', 'A', 'NXDOMAIN'],
    ['out.default.svc', 'A', 'example.com'],
    ['out.default.svc', 'CNAME', 'example.com'],
  ] as const)
    test(`${type} of ${name}: ${expected}`, () => assert.equal(ask(name, type), expected))
})

describe('names of headless Services', () => {
  for (const [name, type, expected] of [
    ['db.default.svc', 'A', '10.244.0.3, 10.244.0.4'],
    ['db.default.svc', 'AAAA', 'NOERROR'],
    ['db-0.db.default.svc', 'A', '10.244.0.3'],
    ['10-244-0-4.db.default.svc', 'A', '10.244.0.4'],
    ['10-244-0-5.db.default.svc', 'A', 'NXDOMAIN'],
    [
      '_http._tcp.db.default.svc',
      'SRV',
      '50 8080 db-0.db.default.svc.cluster.local, 50 8080 10-244-0-4.db.default.svc.cluster.local',
    ],
  ] as const)
    test(`${type} of ${name}: ${expected}`, () => assert.equal(ask(name, type), expected))

  test('do not exist without ready endpoints, and exist again with one', () => {
    const known = zoneOf()
    const before = slice('db', [])
    known.objects.setSlice(before, before)
    assert.equal(ask('db.default.svc', 'A', known), 'NXDOMAIN')
    known.objects.setSlice(slice('db', [{ addresses: ['10.244.0.8'] }]), before)
    assert.equal(ask('db.default.svc', 'A', known), '10.244.0.8')
  })

  test('answers about ports have the addresses of their targets', () => {
    const { additional } = zoneOf().zone.answer(['_http', '_tcp', 'db', 'default', 'svc'], types.SRV)
    assert.deepEqual(additional.map(textOf), ['10.244.0.3', '10.244.0.4'])
  })
})

describe('names of pods', () => {
  for (const [name, type, expected] of [
    ['10-244-0-7.default.pod', 'A', '10.244.0.7'],
    ['fd00--7.default.pod', 'AAAA', 'fd00::7'],
    ['10-244-0-7.default.pod', 'AAAA', 'NOERROR'],
    ['10-244-0-7.other.pod', 'A', 'NXDOMAIN'],
    ['web.default.pod', 'A', 'NXDOMAIN'],
    ['default.pod', 'A', 'NOERROR'],
  ] as const)
    test(`${type} of ${name}: ${expected}`, () => assert.equal(ask(name, type), expected))

  test('can be disabled', () => assert.equal(ask('10-244-0-7.default.pod', 'A', zoneOf('disabled')), 'NXDOMAIN'))
})

describe('the zone itself', () => {
  for (const [name, type, expected] of [
    ['', 'A', 'NOERROR'],
    ['', 'SOA', 'ns.dns.cluster.local'],
    ['', 'NS', 'ns.dns.cluster.local'],
    ['dns-version', 'TXT', '1.1.0'],
    ['other', 'A', 'NXDOMAIN'],
  ] as const)
    test(`${type} of ${name || 'the domain'}: ${expected}`, () => assert.equal(ask(name, type), expected))
})

describe('names of addresses', () => {
  const reverse = (address: string, { zone } = zoneOf()): string => {
    const { rcode, answers } = zone.reverse(address, 'x')
    return answers.map(textOf).join(', ') || rcodeText(rcode)
  }

  for (const [address, expected] of [
    ['10.96.0.7', 'web.default.svc.cluster.local'],
    ['fd00::7', 'web.default.svc.cluster.local'],
    ['10.244.0.3', 'db-0.db.default.svc.cluster.local'],
    ['10.244.0.9', 'NXDOMAIN'],
  ] as const)
    test(`${address}: ${expected}`, () => assert.equal(reverse(address), expected))

  test('go with their Service', () => {
    const known = zoneOf()
    known.objects.setService(undefined, service('web'))
    assert.equal(reverse('10.96.0.7', known), 'NXDOMAIN')
  })

  test('are read from right to left', () => {
    assert.equal(addressOfReverseName('7.0.96.10.in-addr.arpa'.split('.')), '10.96.0.7')
    const six = `7.${'0.'.repeat(27)}0.0.d.f.ip6.arpa`
    assert.equal(addressOfReverseName(six.split('.')), 'fd00::7')
    for (const name of ['0.96.10.in-addr.arpa', '256.0.0.1.in-addr.arpa', 'web.local'])
      assert.equal(addressOfReverseName(name.split('.')), undefined)
  })
})
