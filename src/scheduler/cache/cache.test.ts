import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PodInfo } from '../framework/pods/pod-info.ts'
import { aNode, aPod, withRequests } from '../testing/objects.fixture.ts'
import { SchedulerCache } from './cache.ts'

const cpuOf = (cache: SchedulerCache, node: string): number | undefined => cache.node(node)?.requested.milliCPU
const oneCore = withRequests({ cpu: '1' })

test('nodes are tried in turns by zone', () => {
  const cache = new SchedulerCache()
  for (const [name, zone] of [
    ['a1', 'a'],
    ['a2', 'a'],
    ['a3', 'a'],
    ['b1', 'b'],
    ['c1', 'c'],
    ['c2', 'c'],
  ] as const)
    cache.setNode(aNode(name, { labels: { 'topology.kubernetes.io/zone': zone } }))
  const names = (): string[] => cache.nodes.map(({ name }) => name)
  assert.deepEqual(names(), ['a1', 'b1', 'c1', 'a2', 'c2', 'a3'])
  cache.setNode(aNode('a2', { labels: { 'topology.kubernetes.io/zone': 'b' } }))
  assert.deepEqual(names(), ['a1', 'a2', 'c1', 'a3', 'b1', 'c2'])
  cache.removeNode('a1')
  assert.equal(names().includes('a1'), false)
})

test('an assumed pod counts until it is forgotten, and once after the API delivers it', () => {
  const cache = new SchedulerCache()
  cache.setNode(aNode('n'))
  const pod = new PodInfo(aPod('p', oneCore))
  cache.assume(pod, 'n')
  assert.equal(cpuOf(cache, 'n'), 1000)
  assert.throws(() => cache.assume(pod, 'n'), /has a node already/)
  cache.forget(pod)
  assert.equal(cpuOf(cache, 'n'), 0)
  cache.assume(pod, 'n')
  cache.finishBinding(pod)
  cache.setPod(aPod('p', { ...oneCore, nodeName: 'n' }))
  assert.deepEqual([cpuOf(cache, 'n'), cache.isAssumed(pod.uid), cache.podCount], [1000, false, 1])
  cache.forget(pod)
  assert.equal(cpuOf(cache, 'n'), 1000)
  cache.removePod(aPod('p'))
  assert.deepEqual([cpuOf(cache, 'n'), cache.podCount], [0, 0])
})

test('the API overrides the node of an assumed pod', () => {
  const cache = new SchedulerCache()
  cache.setNode(aNode('a'))
  cache.setNode(aNode('b'))
  cache.assume(new PodInfo(aPod('p', oneCore)), 'a')
  cache.setPod(aPod('p', { ...oneCore, nodeName: 'b' }))
  assert.deepEqual([cpuOf(cache, 'a'), cpuOf(cache, 'b')], [0, 1000])
})

test('a bound pod that the API never delivers expires after the configured time', () => {
  let now = 0
  const cache = new SchedulerCache({ assumedMs: 30_000, now: () => now })
  cache.setNode(aNode('n'))
  const [bound, binding] = [new PodInfo(aPod('bound', oneCore)), new PodInfo(aPod('binding', oneCore))]
  cache.assume(bound, 'n')
  cache.assume(binding, 'n')
  cache.finishBinding(bound)
  now = 29_999
  assert.deepEqual(cache.expire(), [])
  now = 30_000
  assert.deepEqual(cache.expire(), [bound])
  assert.equal(cpuOf(cache, 'n'), 1000)
})

test('pods of an unknown node count once the node is added, also after a delete', () => {
  const cache = new SchedulerCache()
  cache.setPod(aPod('p', { ...oneCore, nodeName: 'n' }))
  cache.setNode(aNode('n'))
  assert.equal(cpuOf(cache, 'n'), 1000)
  cache.removeNode('n')
  cache.setPod(aPod('q', { ...oneCore, nodeName: 'n' }))
  cache.removePod(aPod('p'))
  cache.setNode(aNode('n'))
  assert.equal(cpuOf(cache, 'n'), 1000)
})

test('an image counts the nodes that have it', () => {
  const cache = new SchedulerCache()
  const withImage = (name: string, ...names: string[]) => aNode(name, { status: { images: [{ names, sizeBytes: 5 }] } })
  cache.setNode(withImage('a', 'x', 'x:1'))
  cache.setNode(withImage('b', 'x'))
  const state = () => cache.node('a')?.images.get('x')
  assert.deepEqual(state(), { sizeBytes: 5, nodes: 2 })
  cache.setNode(withImage('b', 'y'))
  assert.equal(state()?.nodes, 1)
  cache.removeNode('b')
  assert.equal(state()?.nodes, 1)
})

test('nodes with affinity pods, and used claims, are indexed', () => {
  const cache = new SchedulerCache()
  cache.setNode(aNode('n'))
  const podAntiAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone', labelSelector: {} }],
  }
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }]
  const pod = aPod('p', { nodeName: 'n', affinity: { podAntiAffinity }, volumes })
  cache.setPod(pod)
  assert.deepEqual(
    [cache.nodesWithAffinity.size, cache.nodesWithRequiredAntiAffinity.size, cache.isClaimUsed('default/c')],
    [1, 1, true],
  )
  cache.removePod(pod)
  assert.deepEqual(
    [cache.nodesWithAffinity.size, cache.nodesWithRequiredAntiAffinity.size, cache.isClaimUsed('default/c')],
    [0, 0, false],
  )
})
