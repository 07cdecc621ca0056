import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeviceClass, Node, Pod } from '../../../client/kinds.ts'
import { PodInfo } from '../../framework/index.ts'
import { aNode, aPod, withRequests } from '../../testing/objects.fixture.ts'
import { mayHelp } from '../../testing/try-hint.fixture.ts'
import { filterWith, handleOf, makePlugin, snapshotOf } from '../../testing/try-plugin.fixture.ts'
import { nodeResourcesFit } from './fit.ts'

type PodSpec = NonNullable<Pod['spec']>

const gpu = 'example.com/gpu'
const allocatable = {
  cpu: '2',
  memory: '4Gi',
  'ephemeral-storage': '10Gi',
  pods: '3',
  [gpu]: '2',
  'hugepages-2Mi': '64Mi',
}
const node = aNode('n', { allocatable })
const there = (name: string, requests: Record<string, string> = {}): Pod =>
  aPod(name, { ...withRequests(requests), nodeName: 'n' })

/** The reasons against the pod, prefixed with `never: ` if preemption does not help. */
function verdict(pod: Pod, pods: Pod[], args?: Record<string, unknown>): string {
  const cluster = { nodes: [node], pods, args }
  const snapshot = snapshotOf(cluster)
  const plugin = makePlugin(nodeResourcesFit, cluster, handleOf(cluster, snapshot))
  const info = new PodInfo(pod)
  const prepared = plugin.preFilter?.(info, snapshot)
  const status = prepared && 'state' in prepared ? plugin.filter?.(prepared.state, info, snapshot.nodes[0]!) : prepared
  return status ? `${status.code === 'Unschedulable' ? '' : 'never: '}${status.reasons.join(', ')}` : 'fits'
}

test('a pod fits where all requested resources are free', () => {
  const init = (requests: Record<string, string>, more: object = {}) => ({
    initContainers: [{ name: 'i', image: 'i', resources: { requests }, ...more }],
  })
  const cases: [string, Partial<PodSpec>, Pod[], string][] = [
    ['no requests', {}, [there('a', { cpu: '2' })], 'fits'],
    ['no more pods', {}, [there('a'), there('b'), there('c')], 'Too many pods'],
    [
      'no more pods, and no cpu',
      withRequests({ cpu: '2' }),
      [there('a', { cpu: '1' }), there('b'), there('c')],
      'Too many pods, Insufficient cpu',
    ],
    ['exactly', withRequests({ cpu: '1', memory: '1Gi' }), [there('a', { cpu: '1', memory: '3Gi' })], 'fits'],
    ['cpu', withRequests({ cpu: '1001m' }), [there('a', { cpu: '1' })], 'Insufficient cpu'],
    ['memory', withRequests({ memory: '2Gi' }), [there('a', { memory: '3Gi' })], 'Insufficient memory'],
    [
      'cpu and memory',
      withRequests({ cpu: '2', memory: '2Gi' }),
      [there('a', { cpu: '1', memory: '3Gi' })],
      'Insufficient cpu, Insufficient memory',
    ],
    ['more than the node has', withRequests({ cpu: '3' }), [], 'never: Insufficient cpu'],
    [
      'more than the node has of one',
      withRequests({ cpu: '3', memory: '2Gi' }),
      [there('a', { memory: '3Gi' })],
      'never: Insufficient cpu, Insufficient memory',
    ],
    [
      'ephemeral storage',
      withRequests({ 'ephemeral-storage': '6Gi' }),
      [there('a', { 'ephemeral-storage': '6Gi' })],
      'Insufficient ephemeral-storage',
    ],
    ['an extended resource', withRequests({ [gpu]: '2' }), [there('a', { [gpu]: '1' })], `Insufficient ${gpu}`],
    [
      'a resource that the node lacks',
      withRequests({ 'example.com/fpga': '1' }),
      [],
      'never: Insufficient example.com/fpga',
    ],
    ['zero of a resource that the node lacks', withRequests({ 'example.com/fpga': '0' }), [], 'fits'],
    [
      'huge pages',
      withRequests({ 'hugepages-2Mi': '64Mi' }),
      [there('a', { 'hugepages-2Mi': '2Mi' })],
      'Insufficient hugepages-2Mi',
    ],
    ['an init container', init({ cpu: '2' }), [there('a', { cpu: '1' })], 'Insufficient cpu'],
    [
      'a sidecar',
      { ...withRequests({ cpu: '1' }), ...init({ cpu: '1' }, { restartPolicy: 'Always' }) },
      [there('a', { cpu: '500m' })],
      'Insufficient cpu',
    ],
    [
      'overhead',
      { ...withRequests({ cpu: '1' }), overhead: { cpu: '500m' } },
      [there('a', { cpu: '1' })],
      'Insufficient cpu',
    ],
    [
      'pod-level requests',
      { resources: { requests: { cpu: '1500m' } } },
      [there('a', { cpu: '1' })],
      'Insufficient cpu',
    ],
    ['a node that is full in another resource', withRequests({ memory: '1Gi' }), [there('a', { cpu: '5' })], 'fits'],
  ]
  for (const [title, spec, pods, expected] of cases) assert.equal(verdict(aPod('p', spec), pods), expected, title)
})

test('extended resources can be ignored', () => {
  const pod = aPod('p', withRequests({ 'example.com/fpga': '1' }))
  const cases: [Record<string, unknown>, string][] = [
    [{ ignoredResources: ['example.com/fpga'] }, 'fits'],
    [{ ignoredResources: ['example.com/other'] }, 'never: Insufficient example.com/fpga'],
    [{ ignoredResourceGroups: ['example.com'] }, 'fits'],
    [{ ignoredResourceGroups: ['example'] }, 'never: Insufficient example.com/fpga'],
  ]
  for (const [args, expected] of cases) assert.equal(verdict(pod, [], args), expected, JSON.stringify(args))
  assert.equal(
    verdict(aPod('p', withRequests({ cpu: '9' })), [], { ignoredResources: ['cpu'] }),
    'never: Insufficient cpu',
  )
})

test('reasons are per node', () => {
  const cluster = { nodes: [node, aNode('m')], pods: [there('a', { cpu: '1' })] }
  assert.deepEqual(filterWith(nodeResourcesFit, aPod('p', withRequests({ cpu: '1500m' })), cluster), {
    n: 'Insufficient cpu',
    m: '',
  })
})

test('hints: deleted or shrunk pods and new or larger nodes may help', () => {
  const pod = aPod('p', withRequests({ cpu: '1' }))
  const podEvent = (action: 'Delete' | 'UpdateScaleDown', before: Pod, after?: Pod) =>
    mayHelp(nodeResourcesFit, pod, { resource: 'Pod', action, before, ...(after && { after }) })
  assert.equal(podEvent('Delete', there('a')), true)
  assert.equal(podEvent('Delete', aPod('a')), false)
  assert.equal(podEvent('Delete', { ...aPod('a'), status: { nominatedNodeName: 'n' } }), true)
  assert.equal(podEvent('UpdateScaleDown', there('a', { cpu: '2' }), there('a', { cpu: '1' })), true)
  assert.equal(podEvent('UpdateScaleDown', there('a', { memory: '2Gi' }), there('a', { memory: '1Gi' })), false)
  assert.equal(
    podEvent('UpdateScaleDown', aPod('a', withRequests({ cpu: '2' })), aPod('a', withRequests({ cpu: '1' }))),
    false,
  )
  assert.equal(podEvent('UpdateScaleDown', aPod('p', withRequests({ cpu: '2' })), pod), true)

  const sized = (cpu: string, pods = '110'): Node => aNode('n', { allocatable: { cpu, pods } })
  const nodeEvent = (before: Node | undefined, after: Node) =>
    mayHelp(nodeResourcesFit, pod, {
      resource: 'Node',
      action: before ? 'UpdateAllocatable' : 'Add',
      ...(before && { before }),
      after,
    })
  assert.equal(nodeEvent(undefined, sized('1')), true)
  assert.equal(nodeEvent(undefined, sized('500m')), false)
  assert.equal(nodeEvent(sized('500m'), sized('1')), true)
  assert.equal(nodeEvent(sized('2'), sized('1')), false)
  assert.equal(nodeEvent(sized('1', '1'), sized('1', '2')), true)
})

const aClass = (name: string, extendedResourceName?: string): DeviceClass => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'DeviceClass',
  metadata: { name, uid: `uid-of-${name}` },
  spec: { ...(extendedResourceName && { extendedResourceName }) },
})

test('hints: a class that begins to back a requested extended resource may help', () => {
  const pod = aPod('p', withRequests({ [gpu]: '1', 'deviceclass.resource.kubernetes.io/fast': '1' }))
  const event = (before: DeviceClass | undefined, after: DeviceClass) =>
    mayHelp(nodeResourcesFit, pod, {
      resource: 'DeviceClass',
      action: before ? 'Update' : 'Add',
      ...(before && { before }),
      after,
    })
  assert.equal(event(undefined, aClass('fast')), true)
  assert.equal(event(undefined, aClass('slow')), false)
  assert.equal(event(undefined, aClass('slow', gpu)), true)
  assert.equal(event(undefined, aClass('slow', 'example.com/other')), false)
  assert.equal(event(aClass('slow'), aClass('slow', gpu)), true)
  assert.equal(event(aClass('slow', gpu), aClass('slow', gpu)), false)
  assert.equal(event(aClass('fast'), aClass('fast', 'example.com/other')), false)
})

test('hints: a node with all resources except those backed by a class may help', () => {
  const pod = aPod('p', withRequests({ cpu: '1', [gpu]: '1' }))
  const sized = (cpu: string): Node => aNode('n', { allocatable: { cpu } })
  const helps = (objects: DeviceClass[], before: Node | undefined, after: Node) =>
    mayHelp(
      nodeResourcesFit,
      pod,
      { resource: 'Node', action: before ? 'UpdateAllocatable' : 'Add', ...(before && { before }), after },
      { objects },
    )
  assert.equal(helps([], undefined, sized('1')), false)
  assert.equal(helps([aClass('fast', gpu)], undefined, sized('1')), true)
  assert.equal(helps([aClass('fast', gpu)], undefined, sized('500m')), false)
  assert.equal(helps([aClass('fast', gpu)], sized('500m'), sized('1')), true)
})
