import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { VolumeUsage } from '../stats/usage/usage-snapshot.ts'
import { volumeMetrics } from './volume-metrics.ts'

test('each claim has a gauge for its bytes and inodes', () => {
  const registry = new MetricsRegistry()
  const usage: VolumeUsage = {
    name: 'data',
    claim: { name: 'db', namespace: 'default' },
    isEphemeral: false,
    capacityBytes: 100,
    availableBytes: 60,
    usedBytes: 40,
    inodes: 10,
    inodesFree: 7,
    inodesUsed: 3,
  }
  let claims: readonly VolumeUsage[] = []
  volumeMetrics(registry, () => claims)
  assert.doesNotMatch(registry.render(), /^kubelet_/m)
  claims = [usage]
  const text = registry.render()
  for (const [name, value] of [
    ['capacity_bytes', 100],
    ['available_bytes', 60],
    ['used_bytes', 40],
    ['inodes', 10],
    ['inodes_free', 7],
    ['inodes_used', 3],
  ])
    assert.ok(
      text.includes(`\nkubelet_volume_stats_${name}{namespace="default",persistentvolumeclaim="db"} ${value}\n`),
      text,
    )
})
