import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceClaim, ResourceSlice } from '../../../../client/kinds.ts'
import type { KubeObject } from '../../../../machinery/object.ts'
import {
  aClaim,
  aClass,
  aRequest,
  aSlice,
  devicesOnNodeA,
  driver,
  gpu,
  gpus,
  model,
  noDevices,
  taken,
} from '../devices.fixture.ts'
import type { Device, Request } from './devices.ts'

test('the allocator finds the requested number of matching devices', () => {
  const two = [gpus(gpu('g0'), gpu('g1'))]
  const cel = (expression: string) => ({ selectors: [{ cel: { expression } }] })
  const same = { constraints: [{ matchAttribute: `${driver}/model` }] }
  const distinct = { constraints: [{ distinctAttribute: `${driver}/model` }] }
  const cases: [string, ResourceClaim[], ResourceSlice[], KubeObject[], string][] = [
    ['one', [aClaim('c', [aRequest()])], two, [], 'r=g0'],
    ['two', [aClaim('c', [aRequest({ count: 2 })])], two, [], 'r=g0 r=g1'],
    ['three of two', [aClaim('c', [aRequest({ count: 3 })])], two, [], noDevices],
    ['one each', [aClaim('c', [aRequest()]), aClaim('d', [aRequest()])], two, [], 'r=g0; r=g1'],
    ['all', [aClaim('c', [aRequest({ allocationMode: 'All' })])], two, [], 'r=g0 r=g1'],
    [
      'all, with one allocated',
      [aClaim('c', [aRequest({ allocationMode: 'All' })])],
      two,
      [taken('t', 'g1')],
      noDevices,
    ],
    ['without allocated ones', [aClaim('c', [aRequest()])], two, [taken('t', 'g0')], 'r=g1'],
    [
      'admin access to an allocated device',
      [aClaim('c', [aRequest({ adminAccess: true })])],
      two,
      [taken('t', 'g0')],
      'r=g0',
    ],
    [
      'a device with admin access by another claim',
      [aClaim('c', [aRequest()])],
      two,
      [taken('t', 'g0', { adminAccess: true })],
      'r=g0',
    ],
    [
      'by expression',
      [aClaim('c', [aRequest(cel(`device.attributes["${driver}"].model == "y"`))])],
      [gpus(model('g0', 'x'), model('g1', 'y'))],
      [],
      'r=g1',
    ],
    [
      'of one model',
      [aClaim('c', [aRequest({ count: 2 })], same)],
      [gpus(model('g0', 'x'), model('g1', 'y'), model('g2', 'y'))],
      [],
      'r=g1 r=g2',
    ],
    [
      'of different models',
      [aClaim('c', [aRequest({ count: 2 })], distinct)],
      [gpus(model('g0', 'x'), model('g1', 'x'), model('g2', 'y'))],
      [],
      'r=g0 r=g2',
    ],
    ['of one model, without attributes', [aClaim('c', [aRequest({ count: 2 })], same)], two, [], noDevices],
    [
      'tainted',
      [aClaim('c', [aRequest()])],
      [gpus(gpu('g0', { taints: [{ key: 'k', effect: 'NoSchedule' }] }), gpu('g1'))],
      [],
      'r=g1',
    ],
    [
      'tolerated',
      [aClaim('c', [aRequest({ tolerations: [{ key: 'k', operator: 'Exists' }] })])],
      [gpus(gpu('g0', { taints: [{ key: 'k', effect: 'NoExecute' }] }))],
      [],
      'r=g0',
    ],
    [
      'of another driver',
      [aClaim('c', [aRequest()])],
      [aSlice('s', { driver: 'other.example.com', devices: [gpu('g0')] })],
      [],
      noDevices,
    ],
    [
      'of another node',
      [aClaim('c', [aRequest()])],
      [aSlice('s', { nodeName: 'b', devices: [gpu('g0')] })],
      [],
      noDevices,
    ],
    [
      'of all nodes',
      [aClaim('c', [aRequest()])],
      [aSlice('s', { nodeName: undefined, allNodes: true, devices: [gpu('g0')] })],
      [],
      'r=g0',
    ],
    [
      'each on its node',
      [aClaim('c', [aRequest()])],
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
      [aClaim('c', [aRequest()])],
      [aSlice('s', { devices: [gpu('g0')], pool: { name: 'a', generation: 1, resourceSliceCount: 2 } })],
      [],
      noDevices,
    ],
    [
      'of the newest slices',
      [aClaim('c', [aRequest()])],
      [
        gpus(gpu('old')),
        aSlice('s', { devices: [gpu('new')], pool: { name: 'a', generation: 2, resourceSliceCount: 1 } }),
      ],
      [],
      'r=new',
    ],
    [
      'of a pool that has one twice',
      [aClaim('c', [aRequest()])],
      [gpus(gpu('g0'), gpu('g0'))],
      [],
      'invalid resource pools were encountered',
    ],
  ]
  for (const [title, claims, slices, others, expected] of cases)
    assert.equal(devicesOnNodeA(claims, slices, others), expected, title)
})

test('the first available alternative of a request is used', () => {
  const either: Request = {
    name: 'r',
    firstAvailable: [
      { name: 'two', deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 2 },
      { name: 'one', deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 1 },
    ],
  }
  assert.equal(devicesOnNodeA([aClaim('c', [either])], [gpus(gpu('g0'), gpu('g1'))]), 'r/two=g0 r/two=g1')
  assert.equal(devicesOnNodeA([aClaim('c', [either])], [gpus(gpu('g0'))]), 'r/one=g0')
  // A later claim may need the devices of the first alternative.
  assert.equal(
    devicesOnNodeA([aClaim('c', [either]), aClaim('d', [aRequest()])], [gpus(gpu('g0'), gpu('g1'))]),
    'r/one=g0; r=g1',
  )
})

test('partitions of a device share its counters', () => {
  const part = (name: string, memory: string): Device =>
    gpu(name, { consumesCounters: [{ counterSet: 'card', counters: { memory: { value: memory } } }] })
  const pool = { name: 'a', generation: 1, resourceSliceCount: 2 }
  const slices = [
    aSlice('counters', { pool, sharedCounters: [{ name: 'card', counters: { memory: { value: '8Gi' } } }] }),
    aSlice('parts', { pool, devices: [part('large', '6Gi'), part('medium', '4Gi'), part('small', '2Gi')] }),
  ]
  assert.equal(devicesOnNodeA([aClaim('c', [aRequest()])], slices), 'r=large')
  assert.equal(devicesOnNodeA([aClaim('c', [aRequest()])], slices, [taken('t', 'large')]), 'r=small')
  assert.equal(devicesOnNodeA([aClaim('c', [aRequest({ count: 2 })])], slices), 'r=large r=small')
  assert.equal(devicesOnNodeA([aClaim('c', [aRequest({ count: 3 })])], slices), noDevices)
})

test('shared devices are consumed by capacity, rounded according to their request policy', () => {
  const card = gpu('card', {
    allowMultipleAllocations: true,
    capacity: { memory: { value: '8Gi', requestPolicy: { default: '1Gi', validRange: { min: '1Gi', step: '2Gi' } } } },
  })
  const wants = (memory: string) => aRequest({ capacity: { requests: { memory } } })
  const share = (memory: string) => taken('t', 'card', { shareID: 's', consumedCapacity: { memory } })
  assert.equal(
    devicesOnNodeA([aClaim('c', [wants('3Gi')]), aClaim('d', [wants('4Gi')])], [gpus(card)]),
    'r=card; r=card',
  )
  assert.equal(devicesOnNodeA([aClaim('c', [wants('3Gi')]), aClaim('d', [wants('6Gi')])], [gpus(card)]), noDevices)
  assert.equal(devicesOnNodeA([aClaim('c', [wants('3Gi')])], [gpus(card)], [share('5Gi')]), 'r=card')
  assert.equal(devicesOnNodeA([aClaim('c', [wants('3Gi')])], [gpus(card)], [share('6Gi')]), noDevices)
  assert.equal(devicesOnNodeA([aClaim('c', [aRequest()])], [gpus(card)], [share('7Gi')]), 'r=card')
  assert.equal(
    devicesOnNodeA([aClaim('c', [aRequest({ capacity: { requests: { bandwidth: '1' } } })])], [gpus(card)]),
    noDevices,
  )
  // A request gets each device once.
  assert.equal(
    devicesOnNodeA(
      [aClaim('c', [{ name: 'r', exactly: { ...wants('1Gi').exactly, deviceClassName: 'gpu', count: 2 } }])],
      [gpus(card)],
    ),
    noDevices,
  )
  // The device is no longer shareable, but a share of it is still allocated.
  const whole = gpu('card', { capacity: { memory: { value: '8Gi' } } })
  assert.equal(devicesOnNodeA([aClaim('c', [aRequest()])], [gpus(whole)], [share('1Gi')]), noDevices)
  assert.equal(devicesOnNodeA([aClaim('c', [wants('7Gi')])], [gpus(whole)], [share('1Gi')]), 'r=card')
})

test('allocationMode All means all devices with the requested capacity', () => {
  const card = (name: string, memory?: string) =>
    gpu(name, { allowMultipleAllocations: true, ...(memory && { capacity: { memory: { value: memory } } }) })
  const claim = aClaim('c', [aRequest({ allocationMode: 'All', capacity: { requests: { memory: '2Gi' } } })])
  const cards = gpus(card('large', '8Gi'), card('small', '1Gi'), card('none'))
  assert.equal(devicesOnNodeA([claim], [cards]), 'r=large')
  const share = taken('t', 'large', { shareID: 's', consumedCapacity: { memory: '7Gi' } })
  assert.equal(
    devicesOnNodeA(
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
  assert.equal(devicesOnNodeA([claim], [cards], [share]), noDevices)
})

test(
  'a claim with more than 32 devices is rejected without a search; ' + 'alternatives with fewer devices are found',
  () => {
    const many = (count: number) =>
      gpus(...Array.from({ length: count }, (_, at) => gpu(`g${String(at).padStart(2, '0')}`)))
    const tooMany = /^Error: claim default\/c: number of requested devices 33 exceeds the claim limit of 32$/
    assert.throws(() => devicesOnNodeA([aClaim('c', [aRequest({ count: 33 })])], []), tooMany)
    assert.throws(
      () => devicesOnNodeA([aClaim('c', [aRequest({ count: 32 }), { ...aRequest(), name: 's' }])], [many(40)]),
      tooMany,
    )
    assert.throws(() => devicesOnNodeA([aClaim('c', [aRequest({ allocationMode: 'All' })])], [many(33)]), tooMany)
    const either = (name: string): Request => ({
      name,
      firstAvailable: [32, 16].map((count) => ({
        name: `of-${count}`,
        deviceClassName: 'gpu',
        allocationMode: 'ExactCount',
        count,
      })),
    })
    const found = devicesOnNodeA([aClaim('c', [either('r'), either('s')])], [many(64)]).split(' ')
    assert.deepEqual([found.length, found[0], found[16]], [32, 'r/of-16=g00', 's/of-16=g16'])
  },
)

test('pools are searched by driver, and a pool with unknown counters is invalid', () => {
  const aPool = (name: string, of: string, devices: Device[]) => aSlice(name, { driver: of, devices })
  const anyClass = aClass('any', { selectors: [] })
  const claim = aClaim('c', [aRequest({ deviceClassName: 'any' })])
  const slices = [aPool('s', 'gpu.example', [gpu('short')]), aPool('l', 'gpu.example-more', [gpu('long')])]
  assert.equal(devicesOnNodeA([claim], slices, [anyClass]), 'r=short')
  const unknown = gpu('g0', { consumesCounters: [{ counterSet: 'nowhere', counters: {} }] })
  assert.equal(devicesOnNodeA([aClaim('c', [aRequest()])], [gpus(unknown)]), 'invalid resource pools were encountered')
})
