/** The lease of a node whose packets the cloud's router moves: it needs no device and no routes of the kernel. */
import type { Lease } from '../../subnets/subnet-manager.ts'
import type { BackendContext, BackendNetwork } from '../backend.ts'

export interface CloudLease {
  readonly lease: Lease
  readonly subnet: string
}

/**
 * Acquires the lease. As upstream, nodes publish no type, and only subnets of IPv4 get routes.
 * @throws an Error if IPv4 is off.
 */
export async function acquireCloudLease(
  { config, external, subnets, signal, log }: BackendContext,
  type: string,
): Promise<CloudLease> {
  if (!config.enableIPv4) throw new Error(`${type} has routes of IPv4 only: set EnableIPv4, or use the backend vxlan`)
  if (config.enableIPv6) log(`${type} has routes of IPv4 only: pods of different nodes do not reach each other by IPv6`)
  const lease = await subnets.acquireLease({ publicIP: external.publicIP, backendType: '' }, signal)
  if (lease.subnet === undefined) throw new Error(`the node ${lease.node} has no subnet of IPv4`)
  return { lease, subnet: lease.subnet }
}

/** The network once the cloud has the route. */
export const cloudNetwork = ({ external }: BackendContext, { lease }: CloudLease): BackendNetwork => ({
  lease,
  mtu: external.mtu,
  apply() {},
  restore() {},
  stop() {},
})
