import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../client/kinds.ts'
import { transformPod } from './transform-pod.ts'

const container = { name: 'c', image: 'i', imageID: '', ready: true, restartCount: 0 }
const given = { allocatedResources: { cpu: '2' }, resources: { requests: { cpu: '3' } } }
const pod = (spec: object): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', managedFields: [{ manager: 'm' }] },
  spec: { ...spec, containers: [{ name: 'c', volumeMounts: [{ name: 'v', mountPath: '/v' }] }] },
  status: {
    phase: 'Running',
    podIP: '10.0.0.1',
    podIPs: [{ ip: '10.0.0.1' }],
    containerStatuses: [{ ...container, ...given, containerID: 'x', state: {} }],
  },
})

test('the cached pod retains what scheduling and resource accounting read', () => {
  const claim = { name: 'data', persistentVolumeClaim: { claimName: 'data' } }
  const token = { name: 'kube-api-access-x2x4z', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }
  assert.deepEqual(transformPod(pod({ nodeName: 'n', volumes: [claim, token] })), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { nodeName: 'n', volumes: [claim], containers: [{ name: 'c' }] },
    status: { phase: 'Running', containerStatuses: [{ ...container, ...given }] },
  })
})
