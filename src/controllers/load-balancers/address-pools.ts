/** Addresses for load balancers: chooses a free one of each IP family that a Service wants. */
import { isIP } from 'node:net'
import { addressAt, type Cidr, parseCidr } from '../../lib/cidr.ts'
import { ExplainedError } from '../../lib/explained-error.ts'

/** Addresses that are searched in a large range. */
const maxSearched = 65_536

export interface WantedAddresses {
  /** `spec.ipFamilies`: IPv4, IPv6. */
  readonly families: readonly string[]
  /** `spec.loadBalancerIP`: used if it is in a pool and free. */
  readonly requested: string | undefined
  /** The addresses that the Service has. */
  readonly current: readonly string[]
}

/** Parses ranges with commas between them. Throws an ExplainedError. */
export function parsePools(text: string): readonly Cidr[] {
  const ranges = text.split(',').map((range) => range.trim())
  return ranges.filter(Boolean).map((range) => {
    const cidr = parseCidr(range)
    if (!cidr)
      throw new ExplainedError(`--load-balancer-pool: ${range} is not a range of addresses: write it like 192.0.2.0/24`)
    return cidr
  })
}

/**
 * Returns an address for each family, in the Service's order; those that it has already remain. A family without a pool
 * gets none.
 * @throws an Error if no family has a pool, or a pool has no free address.
 */
export function chooseAddresses(
  pools: readonly Cidr[],
  { families, requested, current }: WantedAddresses,
  taken: ReadonlySet<string>,
): string[] {
  const isUsable = (address: string, pool: Cidr): boolean => isIn(address, pool) && !taken.has(address)
  const found = families.flatMap((family) => {
    const own = pools.filter((pool) => family === `IPv${pool.family}`)
    if (own.length === 0) return []
    const preferred = [...(requested ? [requested] : []), ...current]
    const known = preferred.find((address) => own.some((pool) => isUsable(address, pool)))
    return [known ?? firstFree(own, taken)]
  })
  if (found.length === 0)
    throw new Error(`no pool has addresses of ${families.join(' or ')}: add a range to --load-balancer-pool`)
  return found
}

function firstFree(pools: readonly Cidr[], taken: ReadonlySet<string>): string {
  for (const pool of pools) {
    const size = 2 ** Math.min(16, (pool.family === 4 ? 32 : 128) - pool.prefix)
    // The first and the last address of a range name the network and its broadcast.
    const [first, end] = size > 2 ? [1, Math.min(size, maxSearched) - 1] : [0, size]
    for (let at = first; at < end; at++) {
      const address = addressAt(pool, at)
      if (!taken.has(address)) return address
    }
  }
  throw new Error('all addresses of --load-balancer-pool are in use: add a range')
}

/** True if the address is in the range. */
export function isIn(address: string, { family, base, prefix }: Cidr): boolean {
  if (isIP(address) !== family) return false
  return parseCidr(`${address}/${prefix}`)?.base === base
}
