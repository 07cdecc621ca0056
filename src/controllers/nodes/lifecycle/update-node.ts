/** Writes taints and labels of a node. */
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import { type Node, nodes } from '../../../client/kinds.ts'
import { ignoreNotFound } from '../../api-errors.ts'
import type { Taint } from './taints.ts'

export interface NodeChanges {
  /** All taints; undefined if unchanged. */
  readonly taints: readonly Taint[] | undefined
  /** Labels to set. */
  readonly labels?: Readonly<Record<string, string>>
}

/** Resolves with the updated node. Rejects with a conflict if the node has changed, so that the key is retried. */
export async function updateNode(
  node: Node,
  { taints, labels }: NodeChanges,
  { client }: ReconcileContext,
): Promise<Node> {
  if (!taints && !labels) return node
  const { name = '', resourceVersion } = node.metadata
  const patch = { metadata: { resourceVersion, ...(labels && { labels }) }, ...(taints && { spec: { taints } }) }
  return (await client.patch(nodes, '', name, patch, 'merge').catch(ignoreNotFound)) ?? node
}
