import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { bareServer } from '../../support/bare-server.ts'
import { testCluster } from '../../support/test-cluster.ts'

const cluster = testCluster({ after }, bareServer)
const pods = '/api/v1/namespaces/default/pods'

test('a pod can be resized up to the size of its node', async () => {
  const { call } = await cluster
  await call('POST', '/api/v1/nodes', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n', labels: { 'kubernetes.io/os': 'linux' } },
  })
  await call(
    'PATCH',
    '/api/v1/nodes/n/status',
    { status: { allocatable: { cpu: '2', memory: '1Gi' } } },
    'application/merge-patch+json',
  )
  const containers = (cpu: string) => [{ name: 'c', image: 'i', resources: { requests: { cpu } } }]
  await call('POST', pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { nodeName: 'n', containers: containers('1') },
  })
  const resize = (cpu: string) =>
    call(
      'PATCH',
      `${pods}/p/resize`,
      { spec: { containers: containers(cpu) } },
      'application/strategic-merge-patch+json',
    )
  const resized = await resize('1500m')
  assert.ok(JSON.stringify(resized.spec).includes('"1500m"'))
  await assert.rejects(
    resize('3'),
    new RegExp(
      String.raw` 403 .*pods \\"p\\" is forbidden: Node didn't have enough allocatable resources: cpu, requested: ` +
        '3000, allocatable: 2000',
    ),
  )
})

test('an init container can be resized if its node declares the feature', async () => {
  const { call } = await cluster
  await call('POST', '/api/v1/nodes', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'm', labels: { 'kubernetes.io/os': 'linux' } },
  })
  const status = (more: object) =>
    call(
      'PATCH',
      '/api/v1/nodes/m/status',
      { status: { allocatable: { cpu: '2', memory: '1Gi' }, ...more } },
      'application/merge-patch+json',
    )
  await status({})
  const resources = (cpu: string) => ({ requests: { cpu, memory: '1Mi' }, limits: { cpu, memory: '1Mi' } })
  const container = (cpu: string) => ({ name: 'c', image: 'i', resources: resources(cpu) })
  const spec = (cpu: string) => ({
    initContainers: [{ ...container(cpu), name: 'init' }],
    containers: [container('1')],
  })
  await call('POST', pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'g' },
    spec: { nodeName: 'm', ...spec('1') },
  })
  const resize = () => call('PATCH', `${pods}/g/resize`, { spec: spec('2') }, 'application/strategic-merge-patch+json')
  await assert.rejects(
    resize(),
    / 403 .*pod update requires features InPlacePodVerticalScalingInitContainers which are not available on node/,
  )
  await status({ declaredFeatures: ['InPlacePodVerticalScalingInitContainers'] })
  await resize()
})
