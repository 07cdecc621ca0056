/** Discards packets to this node's subnet for which no interface of a pod is there: `--ip-blackhole-route`. */
import { ignoreErrors } from '../../../lib/linux/c-library.ts'
import type { SystemCalls } from '../../../lib/linux/system-calls.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { withHostNetwork } from '../../netlink/host-network.ts'
import type { Lease } from '../subnets/subnet-manager.ts'

export class BlackholeRoute {
  readonly #calls: SystemCalls
  readonly #lease: Lease
  readonly #resyncMs: number
  readonly #log: (line: string) => void
  #timer: NodeJS.Timeout | undefined

  /** The routes are added again after `resyncMs` if somebody removed them. */
  constructor(calls: SystemCalls, lease: Lease, resyncMs: number, log: (line: string) => void) {
    this.#calls = calls
    this.#lease = lease
    this.#resyncMs = resyncMs
    this.#log = log
  }

  start(): void {
    this.#ensure()
    this.#timer = setInterval(() => this.#ensure(), this.#resyncMs)
  }

  /** The routes remain. */
  stop(): void {
    clearInterval(this.#timer)
  }

  #ensure(): void {
    const { subnet, ipv6Subnet } = this.#lease
    for (const destination of [subnet, ipv6Subnet])
      if (destination !== undefined)
        try {
          withHostNetwork(this.#calls, undefined, ({ routes }) =>
            routes.add({ name: 'blackhole' }, { destination, link: 0, isBlackhole: true }),
          )
        } catch (error) {
          this.#logUnlessPresent(error)
        }
  }

  /** A bridge with the subnet has a route of its own, which must stay. */
  #logUnlessPresent(error: unknown): void {
    try {
      ignoreErrors(error, 'EEXIST')
    } catch {
      this.#log(`Failed to setup blackhole route, ${messageOf(error)}`)
    }
  }
}
