/** The range of the pods of a real node, apart from the networks of this machine and of other clusters on it. */
import { createHash } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import { addressAt, type Cidr, parseCidr } from '../../../lib/cidr.ts'
import { NodeRanges, nodeRangesFile } from '../../../runtime/network/bridge/node-ranges.ts'
import type { EmbeddedRuntime } from './embedded-runtime.ts'

/** The sizes of a node's ranges by their family, as the defaults of `--node-cidr-mask-size-ipv4` and `-ipv6`. */
const nodePrefixes = { 4: 24, 6: 64 } as const

/**
 * Returns a /24 of the IPv4 range of a cluster, or a /64 of its IPv6 range, that overlaps none of the others. The
 * search begins at a place that follows from the name, so that clusters differ also if they run at different times.
 */
export function freePodRange(clusterRange: string, name: string, others: readonly string[]): string {
  const cluster = parseCidr(clusterRange)
  const nodePrefix = nodePrefixes[cluster?.family ?? 4]
  if (!cluster || cluster.prefix > nodePrefix) throw new Error(`${clusterRange} has no /${nodePrefix}`)
  const used = others.map(parseCidr).filter((other) => other?.family === cluster.family) as Cidr[]
  const count = 2 ** (nodePrefix - cluster.prefix)
  const first = createHash('sha256').update(name).digest().readUInt32BE() % count
  for (let i = 0; i < count; i++) {
    const range = candidate(cluster, (first + i) % count)
    if (!used.some((other) => overlap(range, other))) return `${addressAt(range, 0)}/${nodePrefix}`
  }
  return `${addressAt(candidate(cluster, first), 0)}/${nodePrefix}`
}

/** The ranges of the node of a runtime: those that it had before, or a free one of each range of the cluster. */
export function podRanges(
  { root, bridge, cgroup }: EmbeddedRuntime,
  clusterRanges: readonly string[],
): readonly string[] {
  const { current } = new NodeRanges(nodeRangesFile(root))
  if (current.length > 0) return current
  return clusterRanges.map((range) => freePodRange(range, cgroup, machineNetworks(bridge)))
}

/** The networks of this machine's interfaces, without those of one interface. */
export const machineNetworks = (except: string): string[] =>
  Object.entries(networkInterfaces()).flatMap(([name, list = []]) =>
    name === except ? [] : list.flatMap(({ cidr }) => cidr ?? []),
  )

const candidate = ({ family, base }: Cidr, index: number): Cidr => ({
  family,
  base: base + (BigInt(index) << BigInt(bitsOf(family) - nodePrefixes[family])),
  prefix: nodePrefixes[family],
})

const bitsOf = (family: Cidr['family']): number => (family === 4 ? 32 : 128)

function overlap(one: Cidr, other: Cidr): boolean {
  const rest = BigInt(bitsOf(one.family) - Math.min(one.prefix, other.prefix))
  return one.base >> rest === other.base >> rest
}
