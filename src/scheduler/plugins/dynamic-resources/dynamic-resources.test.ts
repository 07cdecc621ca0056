import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeviceClass, ResourceClaim, ResourceSlice } from '../../../client/kinds.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { PodInfo } from '../../framework/index.ts'
import { aNode, aPod } from '../../testing/objects.fixture.ts'
import { filterWith, handleOf, makePlugin, snapshotOf } from '../../testing/try-plugin.fixture.ts'
import { nodeResourcesFit } from '../node-resources/fit.ts'
import type { Allocation, Device, ExactRequest, Request } from './allocation/devices.ts'
import { isReady } from './claims/binding-conditions.ts'
import { requestsOf } from './extended/claim.ts'
import { dynamicResources } from './index.ts'

const driver = 'gpu.example.com'
const nodes = [aNode('a'), aNode('b')]
const aClass = (name: string, spec: DeviceClass['spec'] = {}): DeviceClass => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'DeviceClass',
  metadata: { name },
  spec: { selectors: [{ cel: { expression: `device.driver == "${driver}"` } }], ...spec },
})
const aSlice = (name: string, spec: Partial<ResourceSlice['spec']>): ResourceSlice => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceSlice',
  metadata: { name },
  spec: {
    driver,
    nodeName: 'a',
    ...spec,
    pool: { name: spec.nodeName ?? 'a', generation: 1, resourceSliceCount: 1, ...spec.pool },
  },
})
const asks = (more: Partial<ExactRequest> = {}): Request => ({
  name: 'r',
  exactly: {
    deviceClassName: 'gpu',
    allocationMode: 'ExactCount',
    ...(more.allocationMode !== 'All' && { count: 1 }),
    ...more,
  },
})
const aClaim = (
  name: string,
  requests: Request[],
  devices: object = {},
  status: ResourceClaim['status'] = {},
): ResourceClaim => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaim',
  metadata: { namespace: 'default', name, uid: `uid-of-${name}` },
  spec: { devices: { requests, ...devices } },
  status,
})
const aPodWith = (...claims: string[]) =>
  aPod('p', { resourceClaims: claims.map((resourceClaimName) => ({ name: resourceClaimName, resourceClaimName })) })
const taken = (name: string, device: string, more: object = {}): ResourceClaim =>
  aClaim(name, [], {}, { allocation: { devices: { results: [{ request: 'r', driver, pool: 'a', device, ...more }] } } })

const gpus = (...devices: Device[]): ResourceSlice => aSlice('gpus', { devices })
const gpu = (name: string, more: Partial<Device> = {}): Device => ({ name, ...more })
const model = (name: string, value: string): Device => gpu(name, { attributes: { model: { string: value } } })

/** The devices of each claim on node a, or the reason why there are none. */
function onNodeA(claims: ResourceClaim[], slices: ResourceSlice[], others: KubeObject[] = []): string {
  const cluster = { nodes, objects: [aClass('gpu'), ...slices, ...claims, ...others] }
  const snapshot = snapshotOf(cluster)
  const plugin = makePlugin(dynamicResources, cluster, handleOf(cluster, snapshot))
  const pod = new PodInfo(aPodWith(...claims.map(({ metadata }) => metadata.name ?? '')))
  const prepared = plugin.preFilter?.(pod, snapshot)
  if (!prepared || 'code' in prepared) return prepared?.reasons.join(', ') ?? ''
  const [a] = snapshot.nodes
  assert.ok(a)
  const state = prepared.state as { byNode: Map<string, { allocations: Allocation[] }> }
  const reasons = plugin.filter?.(state, pod, a)?.reasons
  if (reasons) return reasons.join(', ')
  const named = (allocation: Allocation): string =>
    (allocation.devices?.results ?? []).map(({ request, device }) => `${request}=${device}`).join(' ')
  return state.byNode.get('a')?.allocations.map(named).join('; ') ?? 'as allocated'
}

const no = 'cannot allocate all claims'

test('the allocator finds the requested number of matching devices', () => {
  const two = [gpus(gpu('g0'), gpu('g1'))]
  const cel = (expression: string) => ({ selectors: [{ cel: { expression } }] })
  const same = { constraints: [{ matchAttribute: `${driver}/model` }] }
  const distinct = { constraints: [{ distinctAttribute: `${driver}/model` }] }
  const cases: [string, ResourceClaim[], ResourceSlice[], KubeObject[], string][] = [
    ['one', [aClaim('c', [asks()])], two, [], 'r=g0'],
    ['two', [aClaim('c', [asks({ count: 2 })])], two, [], 'r=g0 r=g1'],
    ['three of two', [aClaim('c', [asks({ count: 3 })])], two, [], no],
    ['one each', [aClaim('c', [asks()]), aClaim('d', [asks()])], two, [], 'r=g0; r=g1'],
    ['all', [aClaim('c', [asks({ allocationMode: 'All' })])], two, [], 'r=g0 r=g1'],
    ['all, with one allocated', [aClaim('c', [asks({ allocationMode: 'All' })])], two, [taken('t', 'g1')], no],
    ['without allocated ones', [aClaim('c', [asks()])], two, [taken('t', 'g0')], 'r=g1'],
    [
      'admin access to an allocated device',
      [aClaim('c', [asks({ adminAccess: true })])],
      two,
      [taken('t', 'g0')],
      'r=g0',
    ],
    [
      'a device with admin access by another claim',
      [aClaim('c', [asks()])],
      two,
      [taken('t', 'g0', { adminAccess: true })],
      'r=g0',
    ],
    [
      'by expression',
      [aClaim('c', [asks(cel(`device.attributes["${driver}"].model == "y"`))])],
      [gpus(model('g0', 'x'), model('g1', 'y'))],
      [],
      'r=g1',
    ],
    [
      'of one model',
      [aClaim('c', [asks({ count: 2 })], same)],
      [gpus(model('g0', 'x'), model('g1', 'y'), model('g2', 'y'))],
      [],
      'r=g1 r=g2',
    ],
    [
      'of different models',
      [aClaim('c', [asks({ count: 2 })], distinct)],
      [gpus(model('g0', 'x'), model('g1', 'x'), model('g2', 'y'))],
      [],
      'r=g0 r=g2',
    ],
    ['of one model, without attributes', [aClaim('c', [asks({ count: 2 })], same)], two, [], no],
    [
      'tainted',
      [aClaim('c', [asks()])],
      [gpus(gpu('g0', { taints: [{ key: 'k', effect: 'NoSchedule' }] }), gpu('g1'))],
      [],
      'r=g1',
    ],
    [
      'tolerated',
      [aClaim('c', [asks({ tolerations: [{ key: 'k', operator: 'Exists' }] })])],
      [gpus(gpu('g0', { taints: [{ key: 'k', effect: 'NoExecute' }] }))],
      [],
      'r=g0',
    ],
    [
      'of another driver',
      [aClaim('c', [asks()])],
      [aSlice('s', { driver: 'other.example.com', devices: [gpu('g0')] })],
      [],
      no,
    ],
    ['of another node', [aClaim('c', [asks()])], [aSlice('s', { nodeName: 'b', devices: [gpu('g0')] })], [], no],
    [
      'of all nodes',
      [aClaim('c', [asks()])],
      [aSlice('s', { nodeName: undefined, allNodes: true, devices: [gpu('g0')] })],
      [],
      'r=g0',
    ],
    [
      'each on its node',
      [aClaim('c', [asks()])],
      [
        aSlice('s', {
          nodeName: undefined,
          perDeviceNodeSelection: true,
          devices: [gpu('g0', { nodeName: 'b' }), gpu('g1', { nodeName: 'a' })],
        }),
      ],
      [],
      'r=g1',
    ],
    [
      'of a pool that is not complete',
      [aClaim('c', [asks()])],
      [aSlice('s', { devices: [gpu('g0')], pool: { name: 'a', generation: 1, resourceSliceCount: 2 } })],
      [],
      no,
    ],
    [
      'of the newest slices',
      [aClaim('c', [asks()])],
      [
        gpus(gpu('old')),
        aSlice('s', { devices: [gpu('new')], pool: { name: 'a', generation: 2, resourceSliceCount: 1 } }),
      ],
      [],
      'r=new',
    ],
    [
      'of a pool that has one twice',
      [aClaim('c', [asks()])],
      [gpus(gpu('g0'), gpu('g0'))],
      [],
      'invalid resource pools were encountered',
    ],
  ]
  for (const [title, claims, slices, others, expected] of cases)
    assert.equal(onNodeA(claims, slices, others), expected, title)
})

test('the first available alternative of a request is used', () => {
  const either: Request = {
    name: 'r',
    firstAvailable: [
      { name: 'two', deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 2 },
      { name: 'one', deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 1 },
    ],
  }
  assert.equal(onNodeA([aClaim('c', [either])], [gpus(gpu('g0'), gpu('g1'))]), 'r/two=g0 r/two=g1')
  assert.equal(onNodeA([aClaim('c', [either])], [gpus(gpu('g0'))]), 'r/one=g0')
  // A later claim may need the devices of the first alternative.
  assert.equal(onNodeA([aClaim('c', [either]), aClaim('d', [asks()])], [gpus(gpu('g0'), gpu('g1'))]), 'r/one=g0; r=g1')
})

test('partitions of a device share its counters', () => {
  const part = (name: string, memory: string): Device =>
    gpu(name, { consumesCounters: [{ counterSet: 'card', counters: { memory: { value: memory } } }] })
  const pool = { name: 'a', generation: 1, resourceSliceCount: 2 }
  const slices = [
    aSlice('counters', { pool, sharedCounters: [{ name: 'card', counters: { memory: { value: '8Gi' } } }] }),
    aSlice('parts', { pool, devices: [part('large', '6Gi'), part('medium', '4Gi'), part('small', '2Gi')] }),
  ]
  assert.equal(onNodeA([aClaim('c', [asks()])], slices), 'r=large')
  assert.equal(onNodeA([aClaim('c', [asks()])], slices, [taken('t', 'large')]), 'r=small')
  assert.equal(onNodeA([aClaim('c', [asks({ count: 2 })])], slices), 'r=large r=small')
  assert.equal(onNodeA([aClaim('c', [asks({ count: 3 })])], slices), no)
})

test('shared devices are consumed by capacity, rounded according to their request policy', () => {
  const card = gpu('card', {
    allowMultipleAllocations: true,
    capacity: { memory: { value: '8Gi', requestPolicy: { default: '1Gi', validRange: { min: '1Gi', step: '2Gi' } } } },
  })
  const wants = (memory: string) => asks({ capacity: { requests: { memory } } })
  const share = (memory: string) => taken('t', 'card', { shareID: 's', consumedCapacity: { memory } })
  assert.equal(onNodeA([aClaim('c', [wants('3Gi')]), aClaim('d', [wants('4Gi')])], [gpus(card)]), 'r=card; r=card')
  assert.equal(onNodeA([aClaim('c', [wants('3Gi')]), aClaim('d', [wants('6Gi')])], [gpus(card)]), no)
  assert.equal(onNodeA([aClaim('c', [wants('3Gi')])], [gpus(card)], [share('5Gi')]), 'r=card')
  assert.equal(onNodeA([aClaim('c', [wants('3Gi')])], [gpus(card)], [share('6Gi')]), no)
  assert.equal(onNodeA([aClaim('c', [asks()])], [gpus(card)], [share('7Gi')]), 'r=card')
  assert.equal(onNodeA([aClaim('c', [asks({ capacity: { requests: { bandwidth: '1' } } })])], [gpus(card)]), no)
  // A request gets each device once.
  assert.equal(
    onNodeA(
      [aClaim('c', [{ name: 'r', exactly: { ...wants('1Gi').exactly, deviceClassName: 'gpu', count: 2 } }])],
      [gpus(card)],
    ),
    no,
  )
  // The device is no longer shareable, but a share of it is still allocated.
  const whole = gpu('card', { capacity: { memory: { value: '8Gi' } } })
  assert.equal(onNodeA([aClaim('c', [asks()])], [gpus(whole)], [share('1Gi')]), no)
  assert.equal(onNodeA([aClaim('c', [wants('7Gi')])], [gpus(whole)], [share('1Gi')]), 'r=card')
})

test('allocationMode All means all devices with the requested capacity', () => {
  const card = (name: string, memory?: string) =>
    gpu(name, { allowMultipleAllocations: true, ...(memory && { capacity: { memory: { value: memory } } }) })
  const claim = aClaim('c', [asks({ allocationMode: 'All', capacity: { requests: { memory: '2Gi' } } })])
  const cards = gpus(card('large', '8Gi'), card('small', '1Gi'), card('none'))
  assert.equal(onNodeA([claim], [cards]), 'r=large')
  const share = taken('t', 'large', { shareID: 's', consumedCapacity: { memory: '7Gi' } })
  assert.equal(
    onNodeA(
      [claim],
      [
        cards,
        aSlice('more', {
          driver,
          pool: { name: 'b', generation: 1, resourceSliceCount: 1 },
          devices: [card('other', '2Gi')],
        }),
      ],
      [share],
    ),
    'r=other',
  )
  assert.equal(onNodeA([claim], [cards], [share]), no)
})

test(
  'a claim with more than 32 devices is rejected without a search; ' + 'alternatives with fewer devices are found',
  () => {
    const many = (count: number) =>
      gpus(...Array.from({ length: count }, (_, at) => gpu(`g${String(at).padStart(2, '0')}`)))
    const tooMany = /^Error: claim default\/c: number of requested devices 33 exceeds the claim limit of 32$/
    assert.throws(() => onNodeA([aClaim('c', [asks({ count: 33 })])], []), tooMany)
    assert.throws(() => onNodeA([aClaim('c', [asks({ count: 32 }), { ...asks(), name: 's' }])], [many(40)]), tooMany)
    assert.throws(() => onNodeA([aClaim('c', [asks({ allocationMode: 'All' })])], [many(33)]), tooMany)
    const either = (name: string): Request => ({
      name,
      firstAvailable: [32, 16].map((count) => ({
        name: `of-${count}`,
        deviceClassName: 'gpu',
        allocationMode: 'ExactCount',
        count,
      })),
    })
    const found = onNodeA([aClaim('c', [either('r'), either('s')])], [many(64)]).split(' ')
    assert.deepEqual([found.length, found[0], found[16]], [32, 'r/of-16=g00', 's/of-16=g16'])
  },
)

test('pools are searched by driver, and a pool with unknown counters is invalid', () => {
  const aPool = (name: string, of: string, devices: Device[]) => aSlice(name, { driver: of, devices })
  const anyClass = aClass('any', { selectors: [] })
  const claim = aClaim('c', [asks({ deviceClassName: 'any' })])
  const slices = [aPool('s', 'gpu.example', [gpu('short')]), aPool('l', 'gpu.example-more', [gpu('long')])]
  assert.equal(onNodeA([claim], slices, [anyClass]), 'r=short')
  const unknown = gpu('g0', { consumesCounters: [{ counterSet: 'nowhere', counters: {} }] })
  assert.equal(onNodeA([aClaim('c', [asks()])], [gpus(unknown)]), 'invalid resource pools were encountered')
})

test('the search for devices has no time limit if filterTimeout is 0', () => {
  const cluster = {
    nodes,
    objects: [aClass('gpu'), gpus(...'abcdefgh'.split('').map((name) => gpu(name))), aClaim('c', [asks({ count: 9 })])],
  }
  const snapshot = snapshotOf(cluster)
  let now = 0
  const handle = { ...handleOf(cluster, snapshot), now: () => now++ }
  const pod = new PodInfo(aPodWith('c'))
  const [a] = snapshot.nodes
  for (const [filterTimeout, expected] of [
    ['1ms', 'timed out trying to allocate devices'],
    ['0s', no],
  ] as const) {
    const plugin = makePlugin(dynamicResources, { ...cluster, args: { filterTimeout } }, handle)
    const prepared = plugin.preFilter?.(pod, snapshot)
    assert.ok(a && prepared && !('code' in prepared))
    assert.equal(plugin.filter?.(prepared.state, pod, a)?.reasons.join(), expected)
  }
})

test('the reasons why claims exclude all nodes', () => {
  const all = (reason: string) => ({ a: reason, b: reason })
  const pod = aPodWith('c')
  const cases: [string, KubeObject[], Record<string, string>][] = [
    ['no claim', [], all('could not find ResourceClaim "default/c"')],
    ['no class', [aClaim('c', [asks()])], all('request r: device class gpu does not exist')],
    [
      'being deleted',
      [{ ...aClaim('c', []), metadata: { namespace: 'default', name: 'c', deletionTimestamp: 'now' } }],
      all('resourceclaim "c" is being deleted'),
    ],
    [
      'in use by the maximum of pods',
      [
        aClaim(
          'c',
          [],
          {},
          { allocation: {}, reservedFor: new Array(256).fill({ resource: 'pods', name: 'q', uid: 'q' }) },
        ),
      ],
      all('resourceclaim in use'),
    ],
    [
      'allocated on one node',
      [
        aClaim(
          'c',
          [],
          {},
          {
            allocation: {
              nodeSelector: {
                nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['b'] }] }],
              },
            },
          },
        ),
      ],
      { a: 'resourceclaim not available on the node', b: '' },
    ],
  ]
  for (const [title, objects, expected] of cases)
    assert.deepEqual(filterWith(dynamicResources, pod, { nodes, objects }), expected, title)
  const generated = aPod('p', { resourceClaims: [{ name: 'x', resourceClaimTemplateName: 't' }] })
  assert.deepEqual(
    filterWith(dynamicResources, generated, { nodes }),
    all('pod "default/p": ResourceClaim not created yet'),
  )
  assert.deepEqual(filterWith(dynamicResources, aPod('p'), { nodes }), all(''))
})

test('reserved devices are not free for the next pod until they are unreserved', () => {
  const cluster = { nodes, objects: [aClass('gpu'), gpus(gpu('g0')), aClaim('c', [asks()]), aClaim('d', [asks()])] }
  const snapshot = snapshotOf(cluster)
  const plugin = makePlugin(dynamicResources, cluster, handleOf(cluster, snapshot))
  const [a] = snapshot.nodes
  const attempt = (pod: PodInfo): [unknown, string] => {
    const prepared = plugin.preFilter?.(pod, snapshot)
    assert.ok(prepared && a)
    if ('code' in prepared) return [undefined, prepared.reasons.join()]
    return [prepared.state, plugin.filter?.(prepared.state, pod, a)?.reasons.join() ?? '']
  }
  const [first, second] = [new PodInfo(aPodWith('c')), new PodInfo(aPodWith('d'))]
  const [state] = attempt(first)
  plugin.reserve?.(state, first, 'a')
  assert.equal(attempt(second)[1], no)
  assert.equal(attempt(first)[1], 'resource claim default/c is in the process of being allocated')
  plugin.unreserve?.(state, first, 'a')
  assert.equal(attempt(second)[1], '')
})

test('allocations have a node selector and the configuration of class and claim', () => {
  const parameters = { driver, parameters: { speed: 1 } }
  const configured = aClass('gpu', { config: [{ opaque: parameters }] })
  const claim = aClaim('c', [asks()], {
    config: [
      { requests: ['r'], opaque: parameters },
      { requests: ['other'], opaque: parameters },
    ],
  })
  const cluster = { nodes, objects: [configured, gpus(gpu('g0')), claim] }
  const snapshot = snapshotOf(cluster)
  const plugin = makePlugin(dynamicResources, cluster, handleOf(cluster, snapshot))
  const pod = new PodInfo(aPodWith('c'))
  const prepared = plugin.preFilter?.(pod, snapshot) as {
    state: { byNode: Map<string, { allocations: Allocation[] }> }
  }
  for (const node of snapshot.nodes) plugin.filter?.(prepared.state, pod, node)
  assert.deepEqual(prepared.state.byNode.get('a')?.allocations, [
    {
      devices: {
        results: [{ request: 'r', driver, pool: 'a', device: 'g0' }],
        config: [
          { source: 'FromClass', requests: ['r'], opaque: parameters },
          { source: 'FromClaim', requests: ['r'], opaque: parameters },
        ],
      },
      nodeSelector: { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] }] },
    },
  ])
})

test('devices with binding conditions are ready once these are true', () => {
  const claim = (...conditions: string[]): ResourceClaim => {
    const status = taken('c', 'g0', {
      bindingConditions: ['Attached', 'Prepared'],
      bindingFailureConditions: ['Broken'],
    }).status
    const reported = conditions.map((type) => ({
      type,
      status: 'True',
      reason: 'x',
      message: '',
      lastTransitionTime: 'now',
    }))
    return aClaim('c', [], {}, { ...status, devices: [{ driver, pool: 'a', device: 'g0', conditions: reported }] })
  }
  assert.equal(isReady(claim()), false)
  assert.equal(isReady(claim('Attached')), false)
  assert.equal(isReady(claim('Attached', 'Prepared')), true)
  assert.throws(() => isReady(claim('Attached', 'Broken')), /^Error: claim c binding failed: reason=x, message=""$/)
})

test('claims with failed or overdue devices fit no node and are deallocated', () => {
  const claim = (allocationTimestamp: string, ...failures: string[]): ResourceClaim => {
    const allocation = {
      devices: {
        results: [
          {
            request: 'r',
            driver,
            pool: 'a',
            device: 'g0',
            bindingConditions: ['Attached'],
            bindingFailureConditions: ['Broken'],
          },
        ],
      },
    }
    const reported = failures.map((type) => ({
      type,
      status: 'True',
      reason: 'x',
      message: '',
      lastTransitionTime: 'now',
    }))
    return aClaim(
      'c',
      [],
      {},
      {
        allocation: { ...allocation, allocationTimestamp },
        devices: [{ driver, pool: 'a', device: 'g0', conditions: reported }],
      },
    )
  }
  const [now, longAgo] = [new Date().toISOString(), '2026-01-01T00:00:00Z']
  const elsewhere = 'resourceclaim not available on the node'
  assert.equal(onNodeA([claim(now)], []), 'as allocated')
  assert.equal(onNodeA([claim(now, 'Broken')], []), elsewhere)
  assert.equal(onNodeA([claim(longAgo)], []), elsewhere)
  assert.equal(onNodeA([claim(longAgo, 'Attached')], []), 'as allocated')
})

test('extended resources backed by a class are devices on nodes without the resource', () => {
  const resource = 'example.com/gpu'
  const own = aNode('own', { allocatable: { [resource]: '2' } })
  const pod = aPod('p', { containers: [{ name: 'c', image: 'i', resources: { requests: { [resource]: '1' } } }] })
  const objects = [aClass('gpu', { extendedResourceName: resource }), gpus(gpu('g0'))]
  const all = [own, ...nodes]
  assert.deepEqual(filterWith(dynamicResources, pod, { nodes: all, objects }), { own: '', a: '', b: no })
  assert.deepEqual(filterWith(nodeResourcesFit, pod, { nodes: all, objects }), { own: '', a: '', b: '' })
  assert.deepEqual(filterWith(nodeResourcesFit, pod, { nodes: all }), {
    own: '',
    a: `Insufficient ${resource}`,
    b: `Insufficient ${resource}`,
  })
  assert.deepEqual(filterWith(dynamicResources, pod, { nodes: all }), { own: '', a: '', b: '' })
})

test('init containers reuse the devices of containers that start later', () => {
  const resource = 'example.com/gpu'
  const container = (name: string, amount: string, restartPolicy?: string) => ({
    name,
    image: 'i',
    restartPolicy,
    resources: { requests: { cpu: '1', [resource]: amount } },
  })
  const pod = aPod('p', {
    initContainers: [container('first', '3'), container('sidecar', '1', 'Always')],
    containers: [container('main', '1')],
  })
  const { requests, mappings } = requestsOf(new PodInfo(pod), new Map([[resource, 'gpu']]))
  assert.deepEqual(
    requests.map(({ name, exactly }) => `${name} ${exactly?.count}`),
    ['container-0-request-1 1', 'container-1-request-1 1', 'container-2-request-1 1'],
  )
  assert.deepEqual(
    mappings.map(({ containerName, requestName }) => `${containerName} ${requestName}`),
    [
      'sidecar container-1-request-1',
      'main container-2-request-1',
      'first container-1-request-1',
      'first container-2-request-1',
      'first container-0-request-1',
    ],
  )

  const sharing = aPod('p', {
    initContainers: [container('first', '1'), container('second', '3'), container('third', '2')],
    containers: [],
  })
  const shared = requestsOf(new PodInfo(sharing), new Map([[resource, 'gpu']]))
  assert.deepEqual(
    shared.requests.map(({ name, exactly }) => `${name} ${exactly?.count}`),
    ['container-1-request-1 3'],
  )
  assert.deepEqual(
    shared.mappings.map(({ containerName, requestName }) => `${containerName} ${requestName}`),
    ['first container-1-request-1', 'second container-1-request-1', 'third container-1-request-1'],
  )
})
