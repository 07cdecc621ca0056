/** The lease that a Node describes: its `spec.podCIDRs` and flannel's annotations. */
import { isIP } from 'node:net'
import type { Node } from '../../../../client/kinds.ts'
import { parseCidr, rangeHas } from '../../../../lib/cidr.ts'
import type { NetworkConfig } from '../../config/network-config.ts'
import type { Lease } from '../subnet-manager.ts'
import { type AnnotationNames, annotatedData } from './annotations.ts'

type Families = Pick<NetworkConfig, 'enableIPv4' | 'enableIPv6'>

/** The subnets of a node by family; undefined for a family that is off or has none. */
export interface NodeSubnets {
  readonly subnet: string | undefined
  readonly ipv6Subnet: string | undefined
}

/** True if flannel runs on the node, and gets its subnet from the API. */
export const isManaged = ({ metadata }: Node, names: AnnotationNames): boolean =>
  metadata.annotations?.[names.kubeManaged] === 'true'

/** @throws an Error if the node has more ranges than one of each family. */
export function nodeSubnets({ metadata, spec }: Node, { enableIPv4, enableIPv6 }: Families): NodeSubnets {
  const { podCIDRs = [], podCIDR } = spec ?? {}
  const ranges = podCIDRs.length > 0 || !podCIDR ? podCIDRs : [podCIDR]
  if (ranges.length > 2)
    throw new Error(`node "${metadata.name}" pod cidrs should be IPv4/IPv6 only or dualstack: ${ranges.join(', ')}`)
  const of = (family: 4 | 6): string | undefined => ranges.find((range) => parseCidr(range)?.family === family)
  return { subnet: enableIPv4 ? of(4) : undefined, ipv6Subnet: enableIPv6 ? of(6) : undefined }
}

/**
 * Returns the lease of a node on which flannel runs.
 * @throws an Error with what the node lacks.
 */
export function nodeLease(node: Node, names: AnnotationNames, families: Families): Lease {
  const { annotations = {}, name = '' } = node.metadata
  const subnets = nodeSubnets(node, families)
  const addressOf = (annotation: string): string => {
    const address = annotations[annotation] ?? ''
    if (isIP(address) === 0) throw new Error(`the annotation ${annotation} is "${address}", which is no address`)
    return address
  }
  const missing = families.enableIPv4 && !subnets.subnet ? 'IPv4' : families.enableIPv6 && !subnets.ipv6Subnet && 'IPv6'
  if (missing) throw new Error(`missing ${missing} address on n.Spec.PodCIDRs`)
  return {
    node: name,
    ...subnets,
    attributes: {
      backendType: annotations[names.backendType] ?? '',
      ...(families.enableIPv4 && {
        publicIP: addressOf(names.publicIP),
        backendData: annotatedData(annotations[names.backendData]),
      }),
      ...(families.enableIPv6 && {
        publicIPv6: addressOf(names.publicIPv6),
        backendV6Data: annotatedData(annotations[names.backendV6Data]),
      }),
    },
  }
}

/** @throws an Error if a subnet of the node is not part of the network. */
export function checkSubnets(node: string, { subnet, ipv6Subnet }: NodeSubnets, config: NetworkConfig): void {
  const pairs = [
    [subnet, config.network, 'PodCIDR'],
    [ipv6Subnet, config.ipv6Network, 'IPv6 PodCIDR'],
  ] as const
  for (const [range, network, name] of pairs) {
    if (range === undefined) continue
    const [address = '', prefix = ''] = range.split('/')
    if (network && rangeHas(network, address) && Number(prefix) >= (parseCidr(network)?.prefix ?? 0)) continue
    throw new Error(
      `subnet "${network}" specified in the flannel net config doesn't contain "${range}" ${name} of the "${node}" ` +
        'node: set the same range in net-conf.json and in --cluster-cidr of kube-controller-manager',
    )
  }
}
