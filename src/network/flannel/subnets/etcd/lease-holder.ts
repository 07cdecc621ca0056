/** Holds this node's lease in etcd: renews it before its end, and notices if it is lost or becomes a reservation. */
import { setTimeout as delay } from 'node:timers/promises'
import { ExplainedError } from '../../../../lib/explained-error.ts'
import { messageOf } from '../../../../lib/message-of.ts'
import { type Lease, leaseKey } from '../subnet-manager.ts'
import type { StoredLease, SubnetRegistry, WriteResult } from './subnet-registry.ts'
import type { StoredEvent, SubnetWatch } from './subnet-watch.ts'

export interface LeaseHolderOptions {
  readonly lease: Lease
  /** The write by which the node got the lease. */
  readonly written: WriteResult
  readonly registry: Pick<SubnetRegistry, 'update' | 'list' | 'timeToLive' | 'revoke'>
  readonly watch: Pick<SubnetWatch, 'run'>
  readonly renewMarginMs: number
  /** The life of a lease without renewals. */
  readonly seconds: number
  readonly log: (line: string) => void
}

/** Until a failed renewal is tried again, in ms: upstream's. */
const retryMs = 60_000
/** A timer has at most 2^31 - 1 ms; a day is far less. */
const maxMs = 24 * 60 * 60 * 1000

export class LeaseHolder {
  readonly #options: LeaseHolderOptions
  readonly #lost = Promise.withResolvers<never>()
  #revision: bigint
  /** The lease of etcd that this process was granted. */
  #granted: bigint | undefined
  /** In ms since 1970; undefined for a reservation. */
  #expiresAt: number | undefined
  /** Interrupts the wait for the next renewal. */
  #wake = new AbortController()

  constructor(options: LeaseHolderOptions) {
    this.#options = options
    const { revision, granted } = options.written
    this.#revision = revision
    this.#granted = granted?.id
    this.#expiresAt = granted && Date.now() + granted.seconds * 1000
    this.#lost.promise.catch(() => {})
  }

  get expiresAt(): number | undefined {
    return this.#expiresAt
  }

  /** Resolves when the signal is aborted. Rejects if the lease is lost. */
  async run(signal: AbortSignal): Promise<void> {
    const stopping = new AbortController()
    const ended = AbortSignal.any([signal, stopping.signal])
    try {
      const watching = this.#options.watch.run((event) => this.#receive(event), ended)
      await Promise.race([Promise.all([watching, this.#renew(ended)]), this.#lost.promise])
    } finally {
      stopping.abort()
    }
  }

  async #renew(signal: AbortSignal): Promise<void> {
    const { renewMarginMs, log } = this.#options
    let hasFailed = false
    while (!signal.aborted) {
      const dueMs = this.#expiresAt === undefined ? maxMs : this.#expiresAt - renewMarginMs - Date.now()
      const wake = AbortSignal.any([signal, this.#wake.signal])
      const waitMs = Math.min(maxMs, Math.max(hasFailed ? retryMs : 0, dueMs))
      const isOver = await delay(waitMs, true, { signal: wake }).catch(() => false)
      if (signal.aborted) return
      if (this.#wake.signal.aborted) this.#wake = new AbortController()
      if (!isOver || this.#expiresAt === undefined) continue
      try {
        await this.#renewOnce()
        hasFailed = false
      } catch (error) {
        log(`Error renewing lease (trying again in 1 min): ${messageOf(error)}`)
        hasFailed = true
      }
    }
  }

  async #renewOnce(): Promise<void> {
    const { lease, registry, seconds, log } = this.#options
    const earlier = this.#granted
    const written = await registry.update(lease, lease.attributes, seconds, this.#revision)
    if (!written) {
      // Someone has written the key, or it is gone: the watch brings it, too, but may be cut off.
      this.#receive({ type: 'snapshot', leases: (await registry.list()).leases })
      return
    }
    this.#revision = written.revision
    this.#granted = written.granted?.id
    this.#expiresAt = Date.now() + (written.granted?.seconds ?? seconds) * 1000
    if (earlier !== undefined) await registry.revoke(earlier)
    log(`Lease renewed, new expiration: ${new Date(this.#expiresAt).toISOString()}`)
  }

  #receive(event: StoredEvent): void {
    const { lease } = this.#options
    const key = leaseKey(lease)
    if (event.type === 'removed') {
      if (leaseKey(event.subnets) === key) this.#lose('Lease has been revoked')
      return
    }
    const found =
      event.type === 'snapshot'
        ? event.leases.find((one) => leaseKey(one) === key)
        : leaseKey(event.lease) === key && event.lease
    if (found) void this.#accept(found)
    else if (found === undefined) this.#lose('Lease has been revoked')
  }

  /** An administrator may have made the lease a reservation, or another node may have the subnet. */
  async #accept(found: StoredLease): Promise<void> {
    const { lease, registry, log } = this.#options
    const { publicIP } = found.attributes
    if (publicIP !== lease.attributes.publicIP) {
      this.#lose(`the node ${publicIP} has the subnet ${lease.subnet} of this node now`)
      return
    }
    if (found.revision <= this.#revision) return
    this.#revision = found.revision
    if (found.leaseId === this.#granted) return
    this.#granted = undefined
    if (found.leaseId === 0n) {
      this.#expiresAt = undefined
      log(`the subnet ${lease.subnet} is a reservation now: it is not renewed any more`)
    } else {
      const seconds = await registry.timeToLive(found.leaseId).catch(() => 0)
      this.#expiresAt = Date.now() + (seconds ?? 0) * 1000
      log(`Waiting for ${Math.round(Math.max(0, this.#untilRenewal()) / 1000)} s to renew lease`)
    }
    this.#wake.abort()
  }

  #untilRenewal(): number {
    return (this.#expiresAt ?? 0) - this.#options.renewMarginMs - Date.now()
  }

  #lose(reason: string): void {
    this.#lost.reject(
      new ExplainedError(`${reason}. Shutting down daemon: start flannel again, which acquires a subnet`),
    )
  }
}
