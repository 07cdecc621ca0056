/** Why the clock of a cluster cannot be moved. */
import type { ClusterParts } from '../components/component.ts'

/** Returns undefined for a cluster whose clock can be moved. */
export function fixedClockReason({ etcd, realNode }: Pick<ClusterParts, 'etcd' | 'realNode'>): string | undefined {
  if (etcd) return 'its store is an etcd, whose leases, and other API servers, live by the clock of the machine'
  if (realNode)
    return 'its node is real, and runs programs in the time of the machine; simulated nodes follow the clock'
  return undefined
}
