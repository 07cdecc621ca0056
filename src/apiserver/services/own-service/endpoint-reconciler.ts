/**
 * Keeps the endpoints of the Service `kubernetes` equal to the addresses of the living servers, while this one serves
 * (`--endpoint-reconciler-type`).
 */

import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Store } from '../../../storage/store.ts'
import { LivingServers } from './living-servers.ts'

/**
 * `lease`: the servers that renew their keys in the store. `master-count`: the servers that have written their address,
 * at most `--apiserver-count`. `none`: none are written.
 */
export type ReconcilerType = 'lease' | 'master-count' | 'none'

export interface EndpointReconcilerOptions {
  readonly store: Store
  readonly type: Exclude<ReconcilerType, 'none'>
  /** `--apiserver-count`. */
  readonly count: number
  readonly address: string
  /** The addresses of the endpoints at present. */
  readonly current: () => Promise<readonly string[]>
  /** Makes these the addresses of the endpoints. */
  readonly write: (addresses: readonly string[]) => Promise<void>
  readonly log: (line: string) => void
}

/** Upstream's DefaultEndpointReconcilerInterval. */
const intervalMs = 10_000
/** A server that ends does not wait longer than this for the store: its key expires by itself. */
const leaveMs = 2_000

export class EndpointReconciler {
  readonly #options: EndpointReconcilerOptions
  readonly #living: LivingServers
  #timer: NodeJS.Timeout | undefined
  #isEnding = false
  #hasLeft = false
  /** The last task; they do not overlap. */
  #task: Promise<void> = Promise.resolve()

  constructor(options: EndpointReconcilerOptions) {
    this.#options = options
    this.#living = new LivingServers(options.store)
  }

  /** Writes the endpoints, and again every ten seconds if other servers share the store. */
  async begin(): Promise<void> {
    const { store, address, write } = this.#options
    // A webhook may reject the write: the server starts without it.
    if (!store.isShared) return this.#run(() => write([address]))
    this.#timer = setInterval(() => void this.#run(() => this.#reconcile()), intervalMs).unref()
    await this.#run(() => this.#reconcile())
  }

  /** Removes the address of this server: clients use the others from now on. */
  async end(): Promise<void> {
    if (!this.#timer) return
    clearInterval(this.#timer)
    this.#isEnding = true
    await Promise.race([this.#run(() => this.#leave()), delay(leaveMs, undefined, { ref: false })])
    this.#hasLeft = true
  }

  #run(work: () => Promise<void>): Promise<void> {
    this.#task = this.#task.then(work).catch((error: Error) => {
      if (!this.#hasLeft)
        this.#options.log(`the endpoints of the Service default/kubernetes cannot be written: ${error.message}`)
    })
    return this.#task
  }

  async #reconcile(): Promise<void> {
    const { type, address, count, current, write } = this.#options
    if (this.#isEnding) return
    if (type === 'master-count') return write(withOwn(await current(), address, count))
    await this.#living.renew(address)
    await this.#writeLiving()
  }

  async #leave(): Promise<void> {
    const { type, address, current, write } = this.#options
    if (type === 'master-count') return write((await current()).filter((other) => other !== address))
    await this.#living.leave(address)
    await this.#writeLiving()
  }

  /** Another server may come or go, and write the endpoints, at the same moment: the last one to write looks again. */
  async #writeLiving(): Promise<void> {
    const { write } = this.#options
    let addresses = await this.#living.addresses()
    for (let isCurrent = false; !isCurrent; ) {
      await write(addresses)
      const now = await this.#living.addresses()
      isCurrent = isDeepStrictEqual(now, addresses)
      addresses = now
    }
  }
}

/** Adds the own address. If there are too many then, those that follow it are left out. */
export function withOwn(current: readonly string[], own: string, count: number): string[] {
  const addresses = [...new Set([...current, own])].sort()
  while (addresses.length > Math.max(count, 1)) addresses.splice((addresses.indexOf(own) + 1) % addresses.length, 1)
  return addresses
}
