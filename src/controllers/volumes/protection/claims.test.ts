import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../../client/kinds.ts'
import { claimsOfPod } from '../pod-claims.ts'
import { uses } from './claims.ts'

const pod = (
  more: { phase?: string; deleted?: boolean; nodeName?: string; volumes?: NonNullable<Pod['spec']>['volumes'] } = {},
): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'ns', name: 'p', ...(more.deleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
  spec: { nodeName: more.nodeName ?? 'n', containers: [], volumes: more.volumes ?? [] },
  status: { phase: more.phase ?? 'Running' },
})

test('a pod has the claims of its volumes, those made for it too', () => {
  const volumes = [
    { name: 'a', persistentVolumeClaim: { claimName: 'c' } },
    { name: 'b', ephemeral: {} },
    { name: 'd', emptyDir: {} },
  ]
  assert.deepEqual(claimsOfPod(pod({ volumes })), ['ns/c', 'ns/p-b'])
})

test('a pod that nobody runs uses nothing, one that has ended until it is deleted', () => {
  assert.equal(uses(pod()), true)
  assert.equal(uses(pod({ nodeName: '' })), false)
  assert.equal(uses(pod({ deleted: true })), true)
  assert.equal(uses(pod({ phase: 'Succeeded' })), true)
  assert.equal(uses(pod({ phase: 'Succeeded', deleted: true })), false)
})
