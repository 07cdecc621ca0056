import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podUsage } from '../../../api/core/quota/usage/pods.ts'
import { pluginFixture } from '../plugin-fixture.ts'
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
  ['nothing asked for', pod({}), {}],
  [
    'containers together',
    pod({
      containers: [container({ cpu: '1', memory: '1Gi' }, { cpu: '2' }), container({ cpu: '500m' }, { cpu: '1' })],
    }),
    { cpu: '1500m', 'requests.cpu': '1500m', memory: '1Gi', 'requests.memory': '1Gi', 'limits.cpu': '3' },
  ],
  [
    'the largest init container, if it asks for more',
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
    'what the pod needs beside its containers',
    pod({ containers: [container({ cpu: '1' }, { cpu: '1' })], overhead: { cpu: '250m', memory: '64Mi' } }),
    { cpu: '1250m', 'requests.cpu': '1250m', memory: '64Mi', 'requests.memory': '64Mi', 'limits.cpu': '1250m' },
  ],
  [
    'the pod as a whole',
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
    'what a container still has while it shrinks',
    pod(
      { containers: [container({ cpu: '1' })] },
      { status: { containerStatuses: [{ name: 'c', resources: { requests: { cpu: '2' } } }] } },
    ),
    { cpu: '2', 'requests.cpu': '2' },
  ],
  [
    'what a container is still limited to while it shrinks',
    pod(
      { containers: [container({ cpu: '1' }, { cpu: '2' })] },
      { status: { containerStatuses: [{ name: 'c', resources: { requests: { cpu: '1' }, limits: { cpu: '3' } } }] } },
    ),
    { cpu: '1', 'requests.cpu': '1', 'limits.cpu': '3' },
  ],
  [
    'what a container has that cannot grow',
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
    'what a pod still has as a whole while it shrinks',
    pod(
      { resources: { requests: { cpu: '1' }, limits: { cpu: '2' } } },
      { status: { allocatedResources: { cpu: '1' }, resources: { requests: { cpu: '3' }, limits: { cpu: '4' } } } },
    ),
    { cpu: '3', 'requests.cpu': '3', 'limits.cpu': '4' },
  ],
] as const)
  test(`pods use: ${what}`, () => {
    assert.deepEqual(usage('v1/pods', object), { 'count/pods': '1', pods: '1', ...expected })
  })

test('a pod that has ended is only counted as an object, as is one that should be gone', () => {
  const asks = { containers: [container({ cpu: '1' })] }
  assert.deepEqual(usage('v1/pods', pod(asks, { status: { phase: 'Succeeded' } })), { 'count/pods': '1' })
  const { object } = fixture.write(
    'v1/pods',
    pod(asks, { metadata: { name: 'p', deletionTimestamp: '2026-01-01T00:00:10Z', deletionGracePeriodSeconds: 10 } }),
  )
  const at = (time: string) => podUsage(() => Date.parse(time)).usage(object!).pods
  assert.deepEqual([at('2026-01-01T00:00:15Z'), at('2026-01-01T00:00:25Z')], ['1', undefined])
})

test('whoever limits cpu and memory wants all containers to name them', () => {
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
  ['nothing asked for', {}, { scopeName: 'BestEffort' }, true],
  ['something asked for', { containers: [container({ cpu: '1m' })] }, { scopeName: 'NotBestEffort' }, true],
  ['the class', { priorityClassName: 'high' }, { scopeName: 'PriorityClass', operator: 'In', values: ['high'] }, true],
  [
    'another class',
    { priorityClassName: 'low' },
    { scopeName: 'PriorityClass', operator: 'In', values: ['high'] },
    false,
  ],
  ['no class', {}, { scopeName: 'PriorityClass', operator: 'NotIn', values: ['high'] }, true],
  ['no class', {}, { scopeName: 'PriorityClass', operator: 'Exists' }, false],
  ['no class', {}, { scopeName: 'PriorityClass', operator: 'DoesNotExist' }, true],
  [
    'neighbours elsewhere',
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
    'neighbours here',
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

test('claims use storage, on the whole and of their class', () => {
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

test('resource claims use devices, at most as many as they may get', () => {
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

test('other objects are counted one by one; events and what is not in a namespace are not', () => {
  assert.deepEqual(usage('v1/secrets', {}), { 'count/secrets': '1', secrets: '1' })
  assert.deepEqual(usage('apps/v1/deployments', {}), { 'count/deployments.apps': '1' })
  assert.equal(evaluatorOf(fixture.sources.find('v1/events')), undefined)
  assert.equal(evaluatorOf(fixture.sources.find('v1/nodes')), undefined)
})
