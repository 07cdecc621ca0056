import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PodInfo } from '../../../framework/index.ts'
import { aNode, aPod } from '../../../testing/objects.fixture.ts'
import { filterWith } from '../../../testing/try-plugin.fixture.ts'
import { nodeResourcesFit } from '../../node-resources/fit.ts'
import { aClass, gpu, gpus, noDevices, nodes } from '../devices.fixture.ts'
import { dynamicResources } from '../index.ts'
import { requestsOf } from './claim.ts'

test('extended resources backed by a class are devices on nodes without the resource', () => {
  const resource = 'example.com/gpu'
  const own = aNode('own', { allocatable: { [resource]: '2' } })
  const pod = aPod('p', { containers: [{ name: 'c', image: 'i', resources: { requests: { [resource]: '1' } } }] })
  const objects = [aClass('gpu', { extendedResourceName: resource }), gpus(gpu('g0'))]
  const all = [own, ...nodes]
  assert.deepEqual(filterWith(dynamicResources, pod, { nodes: all, objects }), { own: '', a: '', b: noDevices })
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
