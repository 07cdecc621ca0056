import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../client/kinds.ts'
import { keptPod } from './kept-pod.ts'

const container = { name: 'c', image: 'i', imageID: '', ready: true, restartCount: 0 }
const given = { allocatedResources: { cpu: '2' }, resources: { requests: { cpu: '3' } } }
const pod = (nodeName?: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', managedFields: [{ manager: 'm' }] },
  spec: { ...(nodeName && { nodeName }), containers: [{ name: 'c', volumeMounts: [{ name: 'v', mountPath: '/v' }] }] },
  status: { phase: 'Running', podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }], containerStatuses: [{ ...container, ...given, containerID: 'x', state: {} }] },
})

test('of a pod that has to be placed all is kept, of one that has a node what it takes there', () => {
  assert.deepEqual(keptPod(pod()), { ...pod(), metadata: { name: 'p' } })
  assert.deepEqual(keptPod(pod('n')), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { nodeName: 'n', containers: [{ name: 'c' }] },
    status: { phase: 'Running', containerStatuses: [{ ...container, ...given }] },
  })
})
