import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podNamed, serviceWith } from '../pods.fixture.ts'
import { type Subset, subsetsOf, truncateSubsets } from './subsets.ts'

/** Formats subsets as addresses (unready ones with a dash) and ports. */
const notation = (subsets: readonly Subset[]): string[] =>
  subsets.map(
    ({ addresses = [], notReadyAddresses = [], ports = [] }) =>
      `${[...addresses.map(({ ip }) => ip), ...notReadyAddresses.map(({ ip }) => `-${ip}`)]}: ` +
      `${ports.map(({ name, port }) => `${name ?? ''} ${port}`)}`,
  )

const named = { name: 'm', port: 90, targetPort: 'metrics', protocol: 'TCP' }
const http = { name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }

const cases: {
  title: string
  service?: ReturnType<typeof serviceWith>
  pods: ReturnType<typeof podNamed>[]
  expected: string[]
}[] = [
  { title: 'no subsets without pods', pods: [], expected: [] },
  {
    title: 'ready and unready addresses are separate and sorted',
    pods: [podNamed('b', { ip: '10.0.0.2' }), podNamed('a'), podNamed('c', { ip: '10.0.0.3', isReady: false })],
    expected: ['10.0.0.1,10.0.0.2,-10.0.0.3: http 8080'],
  },
  {
    title: 'ports that only some pods have form their own subset',
    service: serviceWith({ ports: [http, named] }),
    pods: [podNamed('a', { ports: { metrics: 9100 } }), podNamed('b', { ip: '10.0.0.2' })],
    expected: ['10.0.0.1,10.0.0.2: http 8080', '10.0.0.1: m 9100'],
  },
  {
    title: 'pods without an address, ended and deleted pods are excluded',
    pods: [podNamed('a', { ips: [''] }), podNamed('b', { phase: 'Succeeded' }), podNamed('c', { isDeleted: true })],
    expected: [],
  },
  {
    title: 'publishNotReadyAddresses makes all addresses ready, including deleted pods',
    service: serviceWith({ publishNotReadyAddresses: true }),
    pods: [podNamed('a', { isReady: false }), podNamed('b', { ip: '10.0.0.2', isDeleted: true })],
    expected: ['10.0.0.1,10.0.0.2: http 8080'],
  },
  {
    title: 'only the first family of the Service is used',
    service: serviceWith({ ipFamilies: ['IPv6', 'IPv4'] }),
    pods: [podNamed('a', { ips: ['10.0.0.1', 'fd00::1'] }), podNamed('b', { ip: '10.0.0.2' })],
    expected: ['fd00::1: http 8080'],
  },
  {
    title: 'a headless Service without ports has addresses',
    service: serviceWith({ clusterIP: 'None', ports: [] }),
    pods: [podNamed('a')],
    expected: ['10.0.0.1: '],
  },
]

for (const { title, service = serviceWith(), pods, expected } of cases) {
  test(title, () => assert.deepEqual(notation(subsetsOf(service, pods)), expected))
}

test('an address has the pod reference and its host name in the Service domain', () => {
  const [subset] = subsetsOf(serviceWith(), [podNamed('a', { hostname: 'first', subdomain: 'web' })])
  const targetRef = { kind: 'Pod', namespace: 'ns', name: 'a', uid: 'uid-a' }
  assert.deepEqual(subset?.addresses, [{ ip: '10.0.0.1', hostname: 'first', nodeName: 'n', targetRef }])
})

const addresses = (count: number): { ip: string }[] =>
  Array.from({ length: count }, (_, i) => ({ ip: `10.0.${i >> 8}.${i & 255}` }))
const sizes = (subsets: readonly Subset[]): (readonly [number, number])[] =>
  subsets.map(({ addresses: ready = [], notReadyAddresses = [] }) => [ready.length, notReadyAddresses.length])

const truncations: { title: string; given: Subset[]; expected: (readonly [number, number])[] }[] = [
  {
    title: 'a thousand addresses fit',
    given: [{ addresses: addresses(600), notReadyAddresses: addresses(400) }],
    expected: [[600, 400]],
  },
  {
    title: 'ready addresses are preferred',
    given: [{ addresses: addresses(900), notReadyAddresses: addresses(400) }],
    expected: [[900, 100]],
  },
  {
    title: 'too many ready addresses exclude unready ones, proportionally by subset',
    given: [{ addresses: addresses(1500), notReadyAddresses: addresses(9) }, { addresses: addresses(500) }],
    expected: [
      [750, 0],
      [250, 0],
    ],
  },
]

for (const { title, given, expected } of truncations)
  test(`truncateSubsets: ${title}`, () => assert.deepEqual(sizes(truncateSubsets(given)), expected))
