/** Addresses of Services of type LoadBalancer in a cluster whose real node serves them. */
import { createHash } from 'node:crypto'

export const poolFlag = 'load-balancer-pool'
const controller = 'service-lb-controller'

/** The first of the second bytes of default ranges: 127.0.0.0/10 is left to others, such as stub resolvers. */
const firstBlock = 64
const blocks = 128

/**
 * A range of 254 loopback addresses that follows from the cluster's folder, so that clusters on one machine differ.
 * Linux answers on all of 127.0.0.0/8, so nobody has to configure anything, and no other machine reaches them.
 */
export function loopbackPool(folder: string): string {
  const [block = 0, third = 0] = createHash('sha256').update(folder).digest()
  return `127.${firstBlock + (block % blocks)}.${third}.0/24`
}

/** The controllers to run, with the one of load balancers if it has a pool. A user who names controllers decides. */
export const withLoadBalancers = (chosen: readonly string[], pool: string | undefined): readonly string[] =>
  pool && chosen.includes('*') ? [...chosen, controller] : chosen
