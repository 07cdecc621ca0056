/** The order in which nodes are tried: one of each zone in turns, so that any part of the list covers all zones. */
import type { NodeInfo } from '../framework/node-info.ts'

/** Region and zone of a node, from the current or the deprecated labels. */
export const zoneOf = ({ labels }: Pick<NodeInfo, 'labels'>): string => {
  const region = labels['topology.kubernetes.io/region'] ?? labels['failure-domain.beta.kubernetes.io/region'] ?? ''
  const zone = labels['topology.kubernetes.io/zone'] ?? labels['failure-domain.beta.kubernetes.io/zone'] ?? ''
  return `${region}/${zone}`
}

/** The nodes in turns by zone. Zones, and the nodes of each zone, stay in the given order. */
export function interleaveZones(nodes: Iterable<NodeInfo>): NodeInfo[] {
  const zones = new Map<string, NodeInfo[]>()
  for (const node of nodes) {
    const zone = zoneOf(node)
    const known = zones.get(zone)
    if (known) known.push(node)
    else zones.set(zone, [node])
  }
  const [only, ...others] = zones.values()
  if (!only || others.length === 0) return only ?? []
  const order: NodeInfo[] = []
  const longest = Math.max(only.length, ...others.map(({ length }) => length))
  for (let at = 0; at < longest; at++)
    for (const zone of zones.values()) {
      const node = zone[at]
      if (node) order.push(node)
    }
  return order
}
