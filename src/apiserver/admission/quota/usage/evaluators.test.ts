import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podUsage } from '../../../../api/core/quota/usage/pods.ts'
import { pluginFixture } from '../../plugin.fixture.ts'
import { evaluatorOf } from './evaluators.ts'

const fixture = pluginFixture()
const evaluator = (resource: string) => evaluatorOf(fixture.sources.find(resource))!
const usage = (resource: string, object: object) => {
  const { resource: served, object: decoded } = fixture.write(resource, {
    metadata: { name: 'o', namespace: 'a' },
    ...object,
  })
  return evaluatorOf(served)!.usage(decoded!)
}
const container = (requests: object, limits: object = {}, more: object = {}) => ({
  name: 'c',
  image: 'i',
  resources: { requests, limits },
  ...more,
})
const pod = (spec: object, more: object = {}) => ({ spec: { containers: [container({})], ...spec }, ...more })

for (const [what, object, expected] of [
  ['no requests', pod({}), {}],
  [
    'containers together',
    pod({
      containers: [container({ cpu: '1', memory: '1Gi' }, { cpu: '2' }), container({ cpu: '500m' }, { cpu: '1' })],
    }),
    { cpu: '1500m', 'requests.cpu': '1500m', memory: '1Gi', 'requests.memory': '1Gi', 'limits.cpu': '3' },
  ],
  [
    'the largest init container, if it requests more',
    pod({
      containers: [container({ cpu: '1' })],
      initContainers: [container({ cpu: '2' }), container({ cpu: '500m' })],
    }),
    { cpu: '2', 'requests.cpu': '2' },
  ],
  [
    'sidecars beside containers and later init containers',
    pod({
      containers: [container({ cpu: '1' })],
      initContainers: [container({ cpu: '1' }, {}, { restartPolicy: 'Always' }), container({ cpu: '2' })],
    }),
    { cpu: '3', 'requests.cpu': '3' },
  ],
  [
    'the pod overhead',
    pod({ containers: [container({ cpu: '1' }, { cpu: '1' })], overhead: { cpu: '250m', memory: '64Mi' } }),
    { cpu: '1250m', 'requests.cpu': '1250m', memory: '64Mi', 'requests.memory': '64Mi', 'limits.cpu': '1250m' },
  ],
  [
    'pod-level resources',
    pod({ containers: [container({ cpu: '1' })], resources: { requests: { cpu: '4' } } }),
    { cpu: '4', 'requests.cpu': '4' },
  ],
  [
    'huge pages and extended resources',
    pod({ containers: [container({ 'hugepages-2Mi': '4Mi', 'example.com/gpu': '2', 'ephemeral-storage': '1Gi' })] }),
    {
      'hugepages-2Mi': '4Mi',
      'requests.hugepages-2Mi': '4Mi',
      'requests.example.com/gpu': '2',
      'ephemeral-storage': '1Gi',
      'requests.ephemeral-storage': '1Gi',
    },
  ],
  [
    'devices by their class',
    pod({ containers: [container({ 'deviceclass.resource.kubernetes.io/gpu': '1' })] }),
    { 'requests.deviceclass.resource.kubernetes.io/gpu': '1' },
  ],
  [
    'the actual request of a container that shrinks',
    pod(
      { containers: [container({ cpu: '1' })] },
      { status: { containerStatuses: [{ name: 'c', resources: { requests: { cpu: '2' } } }] } },
    ),
    { cpu: '2', 'requests.cpu': '2' },
  ],
  [
    'the actual limit of a container that shrinks',
    pod(
      { containers: [container({ cpu: '1' }, { cpu: '2' })] },
      { status: { containerStatuses: [{ name: 'c', resources: { requests: { cpu: '1' }, limits: { cpu: '3' } } }] } },
    ),
    { cpu: '1', 'requests.cpu': '1', 'limits.cpu': '3' },
  ],
  [
    'the actual resources of a container that cannot grow',
    pod(
      { containers: [container({ cpu: '8' }, { cpu: '9' })] },
      {
        status: {
          conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }],
          containerStatuses: [
            {
              name: 'c',
              allocatedResources: { cpu: '1' },
              resources: { requests: { cpu: '1' }, limits: { cpu: '2' } },
            },
          ],
        },
      },
    ),
    { cpu: '1', 'requests.cpu': '1', 'limits.cpu': '2' },
  ],
  [
    'the actual pod-level resources of a pod that shrinks',
    pod(
      { resources: { requests: { cpu: '1' }, limits: { cpu: '2' } } },
      { status: { allocatedResources: { cpu: '1' }, resources: { requests: { cpu: '3' }, limits: { cpu: '4' } } } },
    ),
    { cpu: '3', 'requests.cpu': '3', 'limits.cpu': '4' },
  ],
] as const)
  test(`usage of pods: ${what}`, () => {
    assert.deepEqual(usage('v1/pods', object), { 'count/pods': '1', pods: '1', ...expected })
  })

test('a finished pod, or one past its grace period, counts only as an object', () => {
  const asks = { containers: [container({ cpu: '1' })] }
  assert.deepEqual(usage('v1/pods', pod(asks, { status: { phase: 'Succeeded' } })), { 'count/pods': '1' })
  const { object } = fixture.write(
    'v1/pods',
    pod(asks, { metadata: { name: 'p', deletionTimestamp: '2026-01-01T00:00:10Z', deletionGracePeriodSeconds: 10 } }),
  )
  const at = (time: string) => podUsage(() => Date.parse(time)).usage(object!).pods
  assert.deepEqual([at('2026-01-01T00:00:15Z'), at('2026-01-01T00:00:25Z')], ['1', undefined])
})

test('a quota for cpu and memory requires all containers to set them', () => {
  const missing = (names: readonly string[], spec: object) =>
    evaluator('v1/pods').missing!(names, fixture.write('v1/pods', { metadata: { name: 'p' }, ...pod(spec) }).object!)
  const containers = [
    { name: 'b', image: 'i' },
    { name: 'a', image: 'i', resources: { requests: { cpu: '1' } } },
  ]
  assert.equal(
    missing(['limits.memory', 'cpu', 'pods'], { containers }),
    'must specify cpu for: b; limits.memory for: a,b',
  )
  assert.equal(missing(['requests.ephemeral-storage', 'pods'], { containers }), undefined)
  assert.equal(missing(['cpu'], { containers, resources: { requests: { cpu: '1' } } }), undefined)
})

for (const [what, spec, scope, expected] of [
  ['a deadline', { activeDeadlineSeconds: 0 }, { scopeName: 'Terminating' }, true],
  ['no deadline', {}, { scopeName: 'Terminating' }, false],
  ['no deadline', {}, { scopeName: 'NotTerminating' }, true],
  ['no requests', {}, { scopeName: 'BestEffort' }, true],
  ['a request', { containers: [container({ cpu: '1m' })] }, { scopeName: 'NotBestEffort' }, true],
  [
    'the priority class',
    { priorityClassName: 'high' },
    { scopeName: 'PriorityClass', operator: 'In', values: ['high'] },
    true,
  ],
  [
    'another priority class',
    { priorityClassName: 'low' },
    { scopeName: 'PriorityClass', operator: 'In', values: ['high'] },
    false,
  ],
  ['no priority class', {}, { scopeName: 'PriorityClass', operator: 'NotIn', values: ['high'] }, true],
  ['no priority class', {}, { scopeName: 'PriorityClass', operator: 'Exists' }, false],
  ['no priority class', {}, { scopeName: 'PriorityClass', operator: 'DoesNotExist' }, true],
  [
    'affinity to other namespaces',
    {
      affinity: {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, podAffinityTerm: { topologyKey: 'k', namespaceSelector: {} } },
          ],
        },
      },
    },
    { scopeName: 'CrossNamespacePodAffinity' },
    true,
  ],
  [
    'affinity within the namespace',
    { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'k' }] } } },
    { scopeName: 'CrossNamespacePodAffinity' },
    false,
  ],
] as const)
  test(`scope ${scope.scopeName}: ${what}`, () => {
    const { object } = fixture.write('v1/pods', { metadata: { name: 'p' }, ...pod(spec) })
    assert.equal(evaluator('v1/pods').inScope!({ operator: 'Exists', ...scope }, object!), expected)
  })

test('services use node ports and load balancers', () => {
  const ports = [
    { port: 80, nodePort: 30_000 },
    { port: 81, protocol: 'UDP' },
  ]
  const numbers = (spec: object) => {
    const used = usage('v1/services', { spec: { ports, ...spec } })
    return [used.services, used['services.nodeports'], used['services.loadbalancers']]
  }
  assert.deepEqual(numbers({ type: 'ClusterIP' }), ['1', '0', '0'])
  assert.deepEqual(numbers({ type: 'NodePort' }), ['1', '2', '0'])
  assert.deepEqual(numbers({ type: 'LoadBalancer' }), ['1', '2', '1'])
  assert.deepEqual(numbers({ type: 'LoadBalancer', allocateLoadBalancerNodePorts: false }), ['1', '1', '1'])
})

test('claims use storage in total and of their storage class', () => {
  const spec = { storageClassName: 'gold', resources: { requests: { storage: '2500m' } } }
  assert.deepEqual(usage('v1/persistentvolumeclaims', { spec }), {
    'count/persistentvolumeclaims': '1',
    persistentvolumeclaims: '1',
    'requests.storage': '3',
    'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
    'gold.storageclass.storage.k8s.io/requests.storage': '3',
  })
  const grown = usage('v1/persistentvolumeclaims', {
    spec: { resources: { requests: { storage: '1Gi' } } },
    status: { allocatedResources: { storage: '2Gi' } },
  })
  assert.equal(grown['requests.storage'], '2Gi')
  const { object } = fixture.write('v1/persistentvolumeclaims', {
    metadata: { name: 'c' },
    spec: { volumeAttributesClassName: 'new' },
    status: { currentVolumeAttributesClassName: 'old' },
  })
  const inScope = (values: readonly string[]) =>
    evaluator('v1/persistentvolumeclaims').inScope!(
      { scopeName: 'VolumeAttributesClass', operator: 'In', values },
      object!,
    )
  assert.deepEqual([inScope(['old']), inScope(['new']), inScope(['other'])], [true, true, false])
})

test('resource claims use the maximum number of devices that they may get', () => {
  const one = (deviceClassName: string, count: number) => ({ deviceClassName, allocationMode: 'ExactCount', count })
  const requests = [
    { name: 'a', exactly: one('gpu', 2) },
    { name: 'b', exactly: { deviceClassName: 'nic', allocationMode: 'All' } },
    { name: 'c', firstAvailable: [one('gpu', 1), one('gpu', 4), one('fpga', 1)] },
  ]
  assert.deepEqual(usage('resource.k8s.io/v1/resourceclaims', { spec: { devices: { requests } } }), {
    'count/resourceclaims.resource.k8s.io': '1',
    'gpu.deviceclass.resource.k8s.io/devices': '6',
    'nic.deviceclass.resource.k8s.io/devices': '32',
    'fpga.deviceclass.resource.k8s.io/devices': '1',
  })
})

test('other namespaced objects are counted; events and cluster-scoped objects are not', () => {
  assert.deepEqual(usage('v1/secrets', {}), { 'count/secrets': '1', secrets: '1' })
  assert.deepEqual(usage('apps/v1/deployments', {}), { 'count/deployments.apps': '1' })
  assert.equal(evaluatorOf(fixture.sources.find('v1/events')), undefined)
  assert.equal(evaluatorOf(fixture.sources.find('v1/nodes')), undefined)
})
