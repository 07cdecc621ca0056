/**
 * The cluster during one scheduling cycle. A cycle does not wait between its snapshot and its decision (except for
 * extenders, during which the cache is not changed), so the snapshot is the cache itself, without a copy.
 */
import type { NodeInfo } from './node-info.ts'

/** The nodes and their pods as they are while one pod is scheduled. */
export interface Snapshot {
  /** In the order in which they are tried: one of each zone in turns. */
  readonly nodes: readonly NodeInfo[]
  /** Nodes that have pods with pod affinity or anti-affinity, required or preferred. */
  readonly nodesWithAffinity: ReadonlySet<NodeInfo>
  readonly nodesWithRequiredAntiAffinity: ReadonlySet<NodeInfo>
  node(name: string): NodeInfo | undefined
  /** Returns true if a pod with a node uses this claim (`namespace/name`). */
  isClaimUsed(key: string): boolean
}
