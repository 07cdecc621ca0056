import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice, Node } from '../../../client/kinds.ts'
import { podNamed, serviceWith } from '../pods.fixture.ts'
import { addressTypesOf, planSlices, type SliceInputs } from './pod-endpoints.ts'
import { reuseSlices } from './slice.ts'

const node: Node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n', labels: { 'topology.kubernetes.io/zone': 'east' } },
}

const planned = (more: Partial<SliceInputs>) =>
  planSlices({
    service: serviceWith(),
    pods: [],
    nodeOf: (name) => (name === 'n' ? node : undefined),
    existing: [],
    addressType: 'IPv4',
    max: 100,
    ...more,
  })

/** A slice as stored by the server. */
const stored = (slice: EndpointSlice | undefined, name = 'web-1'): EndpointSlice => ({
  ...slice!,
  metadata: { ...slice!.metadata, name, uid: `uid-${name}`, resourceVersion: '1' },
})

test('a Service without pods has one slice without endpoints and ports', () => {
  const { create } = planned({}).plan
  assert.deepEqual(
    create.map(({ metadata, endpoints, ports }) => ({ metadata, endpoints, ports })),
    [
      {
        metadata: {
          namespace: 'ns',
          generateName: 'web-',
          labels: {
            'kubernetes.io/service-name': 'web',
            'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
          },
          ownerReferences: [
            {
              apiVersion: 'v1',
              kind: 'Service',
              name: 'web',
              uid: 'uid-web',
              controller: true,
              blockOwnerDeletion: true,
            },
          ],
        },
        endpoints: [],
        ports: [],
      },
    ],
  )
  const { plan } = planned({ existing: [stored(create[0])] })
  assert.deepEqual([plan.create, plan.update, plan.remove], [[], [], []])
})

test('an endpoint has conditions, node, zone, host name and pod', () => {
  const pod = podNamed('a', { hostname: 'first', subdomain: 'web', isDeleted: true })
  assert.deepEqual(planned({ pods: [pod] }).plan.create[0]?.endpoints, [
    {
      addresses: ['10.0.0.1'],
      conditions: { ready: false, serving: true, terminating: true },
      hostname: 'first',
      nodeName: 'n',
      targetRef: { kind: 'Pod', namespace: 'ns', name: 'a', uid: 'uid-a' },
      zone: 'east',
    },
  ])
})

test('pods with different numbers for a named port have separate slices', () => {
  const service = serviceWith({ ports: [{ name: 'm', port: 90, targetPort: 'metrics', protocol: 'TCP' }] })
  const pods = [
    podNamed('a', { ports: { metrics: 1 } }),
    podNamed('b', { ip: '10.0.0.2', ports: { metrics: 2 } }),
    podNamed('c', { ip: '10.0.0.3' }),
  ]
  const { create } = planned({ service, pods }).plan
  assert.deepEqual(
    create.map(({ ports, endpoints }) => [ports?.map(({ port }) => port), endpoints?.length]),
    [
      [[1], 1],
      [[2], 1],
      [[], 1],
    ],
  )
})

test('a pod on a missing node is excluded unless publishNotReadyAddresses is set', () => {
  const pods = [podNamed('a', { nodeName: 'lost' })]
  const { plan, missingNodes } = planned({ pods })
  assert.deepEqual([missingNodes, plan.create[0]?.endpoints], [['lost'], []])
  const all = planned({ pods, service: serviceWith({ publishNotReadyAddresses: true }) })
  assert.deepEqual([all.missingNodes, all.plan.create[0]?.endpoints?.length], [[], 1])
})

test('each family has slices with its own addresses', () => {
  const service = serviceWith({ ipFamilies: ['IPv4', 'IPv6'] })
  const pods = [podNamed('a', { ips: ['10.0.0.1', 'fd00::1'] })]
  assert.deepEqual(
    addressTypesOf(service).map(
      (addressType) => planned({ service, pods, addressType }).plan.create[0]?.endpoints?.[0]?.addresses,
    ),
    [['10.0.0.1'], ['fd00::1']],
  )
})

test('labels are copied from the Service', () => {
  const pods = [podNamed('a')]
  const existing = [stored(planned({ pods }).plan.create[0])]
  const { plan } = planned({ pods, existing, service: serviceWith({}, { tier: 'front' }) })
  assert.equal(plan.update[0]?.metadata.labels?.tier, 'front')
  assert.equal(plan.update[0]?.metadata.resourceVersion, '1')
})

test('reuseSlices turns an unneeded slice into a needed one', () => {
  const pods = [podNamed('a')]
  const existing = [stored(planned({ pods }).plan.create[0])]
  const service = serviceWith({ ports: [{ name: 'dns', port: 53, protocol: 'UDP' }] })
  const { create, update, remove } = reuseSlices(planned({ service, pods, existing }).plan, service)
  assert.deepEqual([create.length, remove.length], [0, 0])
  assert.deepEqual(
    update.map(({ metadata, ports }) => [metadata.name, metadata.generateName, ports]),
    [['web-1', undefined, [{ name: 'dns', port: 53, protocol: 'UDP' }]]],
  )
})

test('slices of a deleted Service of the same name are not reused', () => {
  const pods = [podNamed('a')]
  const [slice] = planned({ pods }).plan.create
  const service = { ...serviceWith(), metadata: { ...serviceWith().metadata, uid: 'uid-other' } }
  const { create, remove } = reuseSlices(planned({ service, pods, existing: [stored(slice)] }).plan, service)
  assert.deepEqual([create.length, remove.length], [1, 1])
})
