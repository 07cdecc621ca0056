/**
 * What one scheduling cycle sees of the cluster. A cycle waits for nothing between its snapshot and its decision
 * (extenders aside, and while these are asked nothing is told to the cache), so that the snapshot is the cache itself,
 * and costs nothing.
 */
import type { NodeInfo } from './node-info.ts'

export interface Snapshot {
  /** In the order in which they are tried: of each zone one, round and round. */
  readonly nodes: readonly NodeInfo[]
  /** Those that have pods with pod affinity or anti-affinity, required or preferred. */
  readonly nodesWithAffinity: ReadonlySet<NodeInfo>
  readonly nodesWithRequiredAntiAffinity: ReadonlySet<NodeInfo>
  node(name: string): NodeInfo | undefined
  /** Whether a pod with a node uses this claim (`namespace/name`). */
  isClaimUsed(key: string): boolean
}
