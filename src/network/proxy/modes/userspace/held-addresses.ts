/** Makes addresses of Services local to this machine, by routes; needs CAP_NET_ADMIN for the network namespace. */
import { rangeHas } from '../../../../lib/cidr.ts'
import { ignoreErrors, SystemCallError } from '../../../../lib/linux/c-library.ts'
import type { SystemCalls } from '../../../../lib/linux/system-calls.ts'
import { Links } from '../../../netlink/links.ts'
import { LocalRoutes } from '../../../netlink/local-routes.ts'
import { NetlinkSocket } from '../../../netlink/netlink-socket.ts'

const noRight: ReadonlySet<string> = new Set(['EPERM', 'EACCES'])

export class HeldAddresses {
  readonly #calls: SystemCalls
  readonly #family: 4 | 6
  #held: readonly string[] = []

  constructor(calls: SystemCalls, family: 4 | 6) {
    this.#calls = calls
    this.#family = family
  }

  /** True if packets to the address reach this machine by a route. */
  has(address: string): boolean {
    return this.#held.some((range) => rangeHas(range, address))
  }

  /** True if no other range is held. */
  hasOnly = (ranges: readonly string[]): boolean => this.#held.every((range) => ranges.includes(range))

  /** True if others have removed a route. */
  isIncomplete(): boolean {
    return this.#withRoutes((routes) => {
      const known = new Set(routes.list(this.#family))
      return this.#held.some((range) => !known.has(range))
    })
  }

  /**
   * Adds routes to ranges. `source` is the address from which this machine then connects.
   * @returns false if this process may not
   */
  hold(ranges: readonly string[], source: string | undefined): boolean {
    return this.#withRoutes((routes) => {
      for (const destination of ranges) {
        try {
          routes.add({ destination, ...(source !== undefined && { source }) })
        } catch (error) {
          if (error instanceof SystemCallError && noRight.has(error.code)) return false
          ignoreErrors(error, 'EEXIST')
        }
        if (!this.#held.includes(destination)) this.#held = [...this.#held, destination]
      }
      return true
    })
  }

  /** Removes routes to other ranges, also those of an earlier process. */
  retain(ranges: readonly string[]): void {
    this.#withRoutes((routes) => {
      for (const range of routes.list(this.#family))
        if (!ranges.includes(range)) {
          try {
            routes.remove(range)
          } catch (error) {
            ignoreErrors(error, 'ESRCH', 'EPERM')
          }
        }
    })
    this.#held = this.#held.filter((range) => ranges.includes(range))
  }

  #withRoutes<Result>(use: (routes: LocalRoutes) => Result): Result {
    const socket = NetlinkSocket.open(this.#calls)
    try {
      const loopback = new Links(socket).find('lo')
      if (!loopback) throw new Error('this machine has no interface lo')
      return use(new LocalRoutes(socket, loopback.index))
    } finally {
      socket.close()
    }
  }
}
