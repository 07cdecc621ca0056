import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../client/kinds.ts'
import { usageOf, usageOfPods } from './usage.ts'

const started = Date.parse('2026-01-01T00:00:00Z')
const pod = (annotations: Record<string, string>, requests?: Record<string, string>): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'web',
    uid: 'u',
    annotations: Object.fromEntries(
      Object.entries(annotations).map(([key, value]) => [`simulation.typernetes.io/${key}`, value]),
    ),
  },
  spec: { containers: [{ name: 'c', ...(requests && { resources: { requests } }) }] },
  status: {
    containerStatuses: [
      {
        name: 'c',
        image: '',
        imageID: '',
        ready: true,
        restartCount: 0,
        state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
      },
    ],
  },
})
const used = (one: Pod, afterMs = 0) => usageOf(one, one.spec!.containers[0]!, {}, started + afterMs)

test('annotations set the usage: an amount, a range or a schedule', () => {
  assert.deepEqual(used(pod({ cpu: '250m', memory: '64Mi' })), { cpuNano: 250_000_000, memoryBytes: 64 * 1024 * 1024 })
  const ranged = used(pod({ cpu: '100m-200m' })).cpuNano
  assert.ok(ranged >= 100_000_000 && ranged <= 200_000_000)
  const scheduled = pod({ cpu: '100m:1m,800m:30s' })
  assert.deepEqual(
    [0, 59_000, 60_000, 89_000, 90_000].map((ms) => used(scheduled, ms).cpuNano / 1e6),
    [100, 100, 800, 800, 100],
  )
})

test('without annotations the usage is constant and below the requests', () => {
  assert.deepEqual(used(pod({})), used(pod({})))
  const { cpuNano, memoryBytes } = used(pod({}, { cpu: '1', memory: '1Gi' }))
  assert.ok(cpuNano > 0 && cpuNano < 1e9 && memoryBytes > 0 && memoryBytes < 2 ** 30)
  assert.ok(usageOfPods([pod({ cpu: '1' })], {}, started).cpuNano > 1e9)
})
