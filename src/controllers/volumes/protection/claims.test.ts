import assert from 'node:assert/strict'
import { test } from 'node:test'
import { uses } from './claims.ts'

type Pod = Parameters<typeof uses>[0]

const pod = (more: { phase?: string; deleted?: boolean; nodeName?: string; volumes?: object[] } = {}): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', ...(more.deleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
    spec: { nodeName: more.nodeName ?? 'n', containers: [], volumes: more.volumes ?? [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] },
    status: { phase: more.phase ?? 'Running' },
  }) as unknown as Pod

test('a pod uses the claims of its volumes, those made for it too', () => {
  assert.equal(uses(pod(), 'c'), true)
  assert.equal(uses(pod(), 'other'), false)
  assert.equal(uses(pod({ volumes: [{ name: 'v', ephemeral: {} }] }), 'p-v'), true)
})

test('a pod that nobody runs uses nothing, one that has ended until it is deleted', () => {
  assert.equal(uses(pod({ nodeName: '' }), 'c'), false)
  assert.equal(uses(pod({ phase: 'Succeeded' }), 'c'), true)
  assert.equal(uses(pod({ phase: 'Succeeded', deleted: true }), 'c'), false)
})
