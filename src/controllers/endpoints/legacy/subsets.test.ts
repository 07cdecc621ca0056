import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podNamed, serviceWith } from '../pods-for-tests.ts'
import { type Subset, subsetsOf, truncated } from './subsets.ts'

/** Addresses (those that are not ready with a dash) and the names of ports. */
const brief = (subsets: readonly Subset[]): string[] =>
  subsets.map(
    ({ addresses = [], notReadyAddresses = [], ports = [] }) =>
      `${[...addresses.map(({ ip }) => ip), ...notReadyAddresses.map(({ ip }) => `-${ip}`)]}: ` +
      `${ports.map(({ name, port }) => `${name ?? ''} ${port}`)}`,
  )

const named = { name: 'm', port: 90, targetPort: 'metrics', protocol: 'TCP' }
const http = { name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }

const cases: {
  what: string
  service?: ReturnType<typeof serviceWith>
  pods: ReturnType<typeof podNamed>[]
  expected: string[]
}[] = [
  { what: 'no pods, no subsets', pods: [], expected: [] },
  {
    what: 'ready and not ready pods are told apart, in the order of their addresses',
    pods: [podNamed('b', { ip: '10.0.0.2' }), podNamed('a'), podNamed('c', { ip: '10.0.0.3', isReady: false })],
    expected: ['10.0.0.1,10.0.0.2,-10.0.0.3: http 8080'],
  },
  {
    what: 'ports that not all pods have make a subset of their own',
    service: serviceWith({ ports: [http, named] }),
    pods: [podNamed('a', { ports: { metrics: 9100 } }), podNamed('b', { ip: '10.0.0.2' })],
    expected: ['10.0.0.1,10.0.0.2: http 8080', '10.0.0.1: m 9100'],
  },
  {
    what: 'pods without an address, ended and deleted ones are out',
    pods: [podNamed('a', { ips: [''] }), podNamed('b', { phase: 'Succeeded' }), podNamed('c', { isDeleted: true })],
    expected: [],
  },
  {
    what: 'publishNotReadyAddresses makes all of them ready, deleted ones too',
    service: serviceWith({ publishNotReadyAddresses: true }),
    pods: [podNamed('a', { isReady: false }), podNamed('b', { ip: '10.0.0.2', isDeleted: true })],
    expected: ['10.0.0.1,10.0.0.2: http 8080'],
  },
  {
    what: 'the first family of the Service counts',
    service: serviceWith({ ipFamilies: ['IPv6', 'IPv4'] }),
    pods: [podNamed('a', { ips: ['10.0.0.1', 'fd00::1'] }), podNamed('b', { ip: '10.0.0.2' })],
    expected: ['fd00::1: http 8080'],
  },
  {
    what: 'a headless Service without ports has addresses all the same',
    service: serviceWith({ clusterIP: 'None', ports: [] }),
    pods: [podNamed('a')],
    expected: ['10.0.0.1: '],
  },
]

for (const { what, service = serviceWith(), pods, expected } of cases) {
  test(what, () => assert.deepEqual(brief(subsetsOf(service, pods)), expected))
}

test('an address says which pod it is of, and the name that the domain of the Service knows it by', () => {
  const [subset] = subsetsOf(serviceWith(), [podNamed('a', { hostname: 'first', subdomain: 'web' })])
  const targetRef = { kind: 'Pod', namespace: 'ns', name: 'a', uid: 'uid-a' }
  assert.deepEqual(subset?.addresses, [{ ip: '10.0.0.1', hostname: 'first', nodeName: 'n', targetRef }])
})

const addresses = (count: number): { ip: string }[] =>
  Array.from({ length: count }, (_, i) => ({ ip: `10.0.${i >> 8}.${i & 255}` }))
const sizes = (subsets: readonly Subset[]): (readonly [number, number])[] =>
  subsets.map(({ addresses: ready = [], notReadyAddresses = [] }) => [ready.length, notReadyAddresses.length])

const truncations: { what: string; given: Subset[]; expected: (readonly [number, number])[] }[] = [
  {
    what: 'a thousand addresses fit',
    given: [{ addresses: addresses(600), notReadyAddresses: addresses(400) }],
    expected: [[600, 400]],
  },
  {
    what: 'ready ones come first',
    given: [{ addresses: addresses(900), notReadyAddresses: addresses(400) }],
    expected: [[900, 100]],
  },
  {
    what: 'too many ready ones leave nothing for others, and subsets keep their shares',
    given: [{ addresses: addresses(1500), notReadyAddresses: addresses(9) }, { addresses: addresses(500) }],
    expected: [
      [750, 0],
      [250, 0],
    ],
  },
]

for (const { what, given, expected } of truncations)
  test(`over capacity: ${what}`, () => assert.deepEqual(sizes(truncated(given)), expected))
