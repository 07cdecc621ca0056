import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../../machinery/object.ts'
import { PodInfo } from '../../framework/index.ts'
import { aPod } from '../../testing/objects.fixture.ts'
import { filterWith, handleOf, makePlugin, snapshotOf } from '../../testing/try-plugin.fixture.ts'
import type { Allocation } from './allocation/devices.ts'
import { aClaim, aClass, aPodWith, aRequest, driver, gpu, gpus, noDevices, nodes } from './devices.fixture.ts'
import { dynamicResources } from './index.ts'

test('the search for devices has no time limit if filterTimeout is 0', (t) => {
  const cluster = {
    nodes,
    objects: [
      aClass('gpu'),
      gpus(...'abcdefgh'.split('').map((name) => gpu(name))),
      aClaim('c', [aRequest({ count: 9 })]),
    ],
  }
  const snapshot = snapshotOf(cluster)
  let now = 0
  t.mock.method(performance, 'now', () => now++)
  const handle = handleOf(cluster, snapshot)
  const pod = new PodInfo(aPodWith('c'))
  const [a] = snapshot.nodes
  for (const [filterTimeout, expected] of [
    ['1ms', 'timed out trying to allocate devices'],
    ['0s', noDevices],
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
    ['no class', [aClaim('c', [aRequest()])], all('request r: device class gpu does not exist')],
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
  const cluster = {
    nodes,
    objects: [aClass('gpu'), gpus(gpu('g0')), aClaim('c', [aRequest()]), aClaim('d', [aRequest()])],
  }
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
  assert.equal(attempt(second)[1], noDevices)
  assert.equal(attempt(first)[1], 'resource claim default/c is in the process of being allocated')
  plugin.unreserve?.(state, first, 'a')
  assert.equal(attempt(second)[1], '')
})

test('allocations have a node selector and the configuration of class and claim', () => {
  const parameters = { driver, parameters: { speed: 1 } }
  const configured = aClass('gpu', { config: [{ opaque: parameters }] })
  const claim = aClaim('c', [aRequest()], {
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
