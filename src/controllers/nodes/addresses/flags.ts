/** Flags of the node IPAM controller, with kube-controller-manager's names and defaults. */
import type { Cidr } from '../../../lib/cidr.ts'
import { parseCidr } from '../../../lib/cidr.ts'
import { ExplainedError } from '../../../lib/explained-error.ts'
import type { ControllerFlag, FlagValues } from '../../flags.ts'

export const addressFlags: readonly ControllerFlag[] = [
  {
    name: 'allocate-node-cidrs',
    type: 'boolean',
    help: 'allocate an address range for pods to each node',
    default: 'false',
  },
  {
    name: 'cluster-cidr',
    type: 'text',
    help: 'address ranges of pods: one range, or one of IPv4 and one of IPv6',
    default: '',
  },
  {
    name: 'node-cidr-mask-size',
    type: 'number',
    help: "prefix length of a node's range (default: 24 for IPv4, 64 for IPv6)",
    default: '0',
  },
  { name: 'node-cidr-mask-size-ipv4', type: 'number', help: "prefix length of a node's IPv4 range", default: '0' },
  { name: 'node-cidr-mask-size-ipv6', type: 'number', help: "prefix length of a node's IPv6 range", default: '0' },
]

export interface ClusterRange {
  readonly cidr: Cidr
  /** Prefix length of a node's range. */
  readonly nodePrefix: number
}

/**
 * Returns the cluster's ranges; empty if nodes get none. Throws an ExplainedError for invalid combinations of flags.
 */
export function clusterRanges(flags: FlagValues): readonly ClusterRange[] {
  if (!flags.boolean('allocate-node-cidrs')) return []
  const text = flags.text('cluster-cidr')
  if (text === '') throw new ExplainedError('--allocate-node-cidrs needs --cluster-cidr, for example 10.244.0.0/16')
  const ranges = text.split(',').map((part) => {
    const cidr = parseCidr(part.trim())
    if (!cidr) throw new ExplainedError(`--cluster-cidr ${part} is not an address range, such as 10.244.0.0/16`)
    return cidr
  })
  if (ranges.length > 2 || (ranges.length === 2 && ranges[0]!.family === ranges[1]!.family)) {
    throw new ExplainedError(`--cluster-cidr ${text}: give one range, or one of IPv4 and one of IPv6`)
  }
  const both = flags.number('node-cidr-mask-size')
  if (both && ranges.length === 2) {
    throw new ExplainedError(
      '--node-cidr-mask-size is for one range: use --node-cidr-mask-size-ipv4 and --node-cidr-mask-size-ipv6',
    )
  }
  return ranges.map((cidr) => ({
    cidr,
    nodePrefix:
      cidr.family === 4
        ? flags.number('node-cidr-mask-size-ipv4') || both || 24
        : flags.number('node-cidr-mask-size-ipv6') || both || 64,
  }))
}
