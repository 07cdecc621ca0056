import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../../client/kinds.ts'
import { claimsOfPod } from '../pod-claims.ts'
import { usesClaims } from './claims.ts'

const pod = (
  more: { phase?: string; deleted?: boolean; nodeName?: string; volumes?: NonNullable<Pod['spec']>['volumes'] } = {},
): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'ns', name: 'p', ...(more.deleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
  spec: { nodeName: more.nodeName ?? 'n', containers: [], volumes: more.volumes ?? [] },
  status: { phase: more.phase ?? 'Running' },
})

test('claimsOfPod returns referenced and ephemeral claims', () => {
  const volumes = [
    { name: 'a', persistentVolumeClaim: { claimName: 'c' } },
    { name: 'b', ephemeral: {} },
    { name: 'd', emptyDir: {} },
  ]
  assert.deepEqual(claimsOfPod(pod({ volumes })), ['ns/c', 'ns/p-b'])
})

test('unscheduled pods use no claims, ended pods use them until deleted', () => {
  assert.equal(usesClaims(pod()), true)
  assert.equal(usesClaims(pod({ nodeName: '' })), false)
  assert.equal(usesClaims(pod({ deleted: true })), true)
  assert.equal(usesClaims(pod({ phase: 'Succeeded' })), true)
  assert.equal(usesClaims(pod({ phase: 'Succeeded', deleted: true })), false)
})
