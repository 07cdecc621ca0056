import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../kinds.ts'
import { trimPod } from './trim-pod.ts'

type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number]

const token: Volume = {
  name: 'kube-api-access-x',
  projected: { sources: [{ serviceAccountToken: { path: 'token' } }] },
}
const named: Volume[] = [
  { name: 'secret', projected: { sources: [{ secret: { name: 's' } }] } },
  { name: 'claim', persistentVolumeClaim: { claimName: 'c' } },
]
const status = { name: 'web', image: 'i', imageID: '', ready: true, restartCount: 2 }
const pod = (volumes: Volume[]): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', managedFields: [{ manager: 'm' }] },
  spec: {
    nodeName: 'n',
    volumes,
    containers: [
      { name: 'web', image: 'i', volumeMounts: volumes.map(({ name }) => ({ name, mountPath: `/${name}` })) },
    ],
  },
  status: {
    phase: 'Running',
    podIP: '10.0.0.1',
    hostIP: '10.1.0.1',
    hostIPs: [{ ip: '10.1.0.1' }],
    containerStatuses: [{ ...status, containerID: 'containerd://0' }],
  },
})

test('removes the fields that only a kubelet reads; keeps volumes that name other objects', () => {
  const spec = { nodeName: 'n', containers: [{ name: 'web', image: 'i' }] }
  const rest = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    status: { phase: 'Running', podIP: '10.0.0.1', containerStatuses: [status] },
  }
  assert.deepEqual(trimPod(pod([token])), { ...rest, spec })
  assert.deepEqual(trimPod(pod([token, ...named])), { ...rest, spec: { ...spec, volumes: named } })
})

test('does not modify the original pod', () => {
  const whole = pod([token])
  const before = structuredClone(whole)
  trimPod(whole)
  assert.deepEqual(whole, before)
})
