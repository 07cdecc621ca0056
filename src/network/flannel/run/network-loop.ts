/** Keeps a backend's network right: leases of other nodes as they change, and what others changed in the kernel. */
import type { SystemCalls } from '../../../lib/linux/system-calls.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { ChangeMonitor, changeGroups } from '../../netlink/change-monitor.ts'
import type { BackendNetwork } from '../backends/backend.ts'
import { type LeaseChange, LeaseTable } from '../subnets/lease-table.ts'
import type { SubnetManager } from '../subnets/subnet-manager.ts'

export interface NetworkLoopOptions {
  readonly network: BackendNetwork
  readonly subnets: Pick<SubnetManager, 'watchLeases'>
  readonly calls: SystemCalls
  readonly log: (line: string) => void
}

/** Changes of leases of this time in ms are one call of the backend. */
const collectMs = 20
/** How often changes of the kernel are noticed, in ms. */
const monitorMs = 500
/** How often everything is checked although nothing changed, in ms: upstream's. */
const checkMs = 10_000
const retryMs = { first: 500, most: 30_000 } as const

export class NetworkLoop {
  readonly #options: NetworkLoopOptions
  readonly #leases: LeaseTable
  readonly #monitor: ChangeMonitor
  readonly #stopping = new AbortController()
  /** Calls of the backend run one after another. */
  #running: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #interval: NodeJS.Timeout | undefined
  #checkedAt = 0
  #failedCalls = 0
  #problem: string | undefined
  #last: LeaseChange | undefined
  readonly #applied = Promise.withResolvers<void>()

  constructor(options: NetworkLoopOptions) {
    this.#options = options
    this.#leases = new LeaseTable(options.network.lease)
    const { links, ipv4Addresses, ipv4Routes, ipv6Addresses, ipv6Routes, neighbors } = changeGroups
    const groups = [links, neighbors, ipv4Addresses, ipv4Routes, ipv6Addresses, ipv6Routes]
    this.#monitor = new ChangeMonitor(options.calls, groups)
  }

  /** Resolves when the leases of all nodes are in effect for the first time. */
  get applied(): Promise<void> {
    return this.#applied.promise
  }

  /** Starts. Resolves when the loop has stopped; rejects if leases cannot be watched. */
  async run(): Promise<void> {
    this.#checkedAt = performance.now()
    this.#interval = setInterval(() => this.#check(), monitorMs)
    await this.#options.subnets.watchLeases((event) => {
      this.#leases.apply(event)
      this.#schedule(collectMs)
    }, this.#stopping.signal)
  }

  /** Resolves when no call of the backend runs any more. The network remains. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    clearTimeout(this.#timer)
    clearInterval(this.#interval)
    await this.#running
    this.#monitor.close()
    await this.#options.network.stop()
  }

  #schedule(afterMs: number): void {
    if (this.#stopping.signal.aborted) return
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#enqueue(() => this.#apply())
    }, afterMs)
  }

  #check(): void {
    const isDue = performance.now() - this.#checkedAt >= checkMs
    if (!this.#monitor.hasChanged() && !isDue) return
    this.#checkedAt = performance.now()
    this.#enqueue(async () => this.#options.network.restore())
  }

  async #apply(): Promise<void> {
    const taken = this.#leases.take()
    const change = taken ?? (this.#last && { ...this.#last, added: [], changed: [], removed: [] })
    if (!change) return
    this.#last = change
    await this.#options.network.apply(change)
    this.#applied.resolve()
  }

  #enqueue(call: () => Promise<void>): void {
    this.#running = this.#running.then(async () => {
      if (this.#stopping.signal.aborted) return
      try {
        await call()
        // Changes by the backend are no reason to call it.
        this.#monitor.hasChanged()
        if (this.#problem !== undefined) this.#options.log('the network works again')
        this.#problem = undefined
        this.#failedCalls = 0
      } catch (error) {
        this.#fail(messageOf(error))
      }
    })
  }

  /** Logs a problem once, and retries after a back-off. */
  #fail(problem: string): void {
    if (this.#problem !== problem) this.#options.log(`the network does not work completely: ${problem}`)
    this.#problem = problem
    this.#schedule(Math.min(retryMs.first * 2 ** this.#failedCalls, retryMs.most))
    this.#failedCalls++
  }
}
