/** Gauges of the volumes of claims, as they were measured last. */
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { VolumeUsage } from '../stats/usage/usage-snapshot.ts'

const gauges = [
  ['capacity_bytes', 'Capacity in bytes of the volume', 'capacityBytes'],
  ['available_bytes', 'Number of available bytes in the volume', 'availableBytes'],
  ['used_bytes', 'Number of used bytes in the volume', 'usedBytes'],
  ['inodes', 'Maximum number of inodes in the volume', 'inodes'],
  ['inodes_free', 'Number of free inodes in the volume', 'inodesFree'],
  ['inodes_used', 'Number of used inodes in the volume', 'inodesUsed'],
] as const

/** `claims` returns each claim once. */
export function volumeMetrics(registry: MetricsRegistry, claims: () => Iterable<VolumeUsage>): void {
  for (const [name, help, field] of gauges)
    registry.gauge(`kubelet_volume_stats_${name}`, help, ['namespace', 'persistentvolumeclaim'], () =>
      [...claims()].flatMap((volume) => {
        const { claim } = volume
        return claim ? [[[claim.namespace, claim.name], volume[field]] as const] : []
      }),
    )
}
