/** A certificate of the kubelet that is renewed in time: at 70 to 90 % of its life, as upstream. */
import { timerMs } from '../../lib/flow/timer-ms.ts'
import { messageOf } from '../../lib/message-of.ts'
import { certificateOf, type KeyPair } from './key-pair.ts'

/** The place of the current pair on disk. */
export interface KeyPairStore {
  /** The file of the current certificate. */
  readonly currentPath: string
  /** The current pair; undefined if there is none. Throws an Error, without the content, if it cannot be used. */
  load(): KeyPair | undefined
  save(pair: KeyPair, now: Date): void
}

export interface ManagedCertificateOptions {
  readonly store: KeyPairStore
  /** A pair from elsewhere, which is used if none is stored. It is not stored. */
  readonly initial?: KeyPair
  /** Creates a key and gets a certificate for it. Undefined if the node does not have its addresses yet. */
  readonly renew: (signal: AbortSignal) => Promise<KeyPair | undefined>
  /** False if a certificate must be replaced now, as when the node's addresses have changed. */
  readonly isCurrent?: (pair: KeyPair) => boolean
  /** Called with each new pair. */
  readonly changed: (pair: KeyPair) => void
  /** Called after each failed renewal. */
  readonly failed?: () => void
  readonly log: (line: string) => void
  readonly now: () => number
  readonly random: () => number
  readonly schedule: (callback: () => void, ms: number) => () => void
}

/** Delays after failed renewals, in ms: doubled up to the longest. */
const firstRetryMs = 2_000
const longestRetryMs = 5 * 60_000
/** The interval of checks whether the certificate still fits the node, in ms. */
const checkMs = 60_000

export class ManagedCertificate {
  readonly #options: ManagedCertificateOptions
  readonly #stopping = new AbortController()
  #current: KeyPair | undefined
  #deadline = 0
  #retryMs = firstRetryMs
  #cancel: (() => void) | undefined

  constructor(options: ManagedCertificateOptions) {
    this.#options = options
  }

  /** The newest pair; undefined before the first one. It may have expired if the renewal fails. */
  get current(): KeyPair | undefined {
    return this.#current
  }

  /** Loads the stored pair and begins to renew it. */
  start(): void {
    const pair = this.#stored() ?? this.#options.initial
    if (pair) this.#use(pair)
    this.#check()
  }

  stop(): void {
    this.#stopping.abort()
    this.#cancel?.()
  }

  /** The stored pair; one that has expired only if there is no other. */
  #stored(): KeyPair | undefined {
    const { store, log, now, initial } = this.#options
    try {
      const stored = store.load()
      const isOver = stored && initial && certificateOf(stored).validToDate.getTime() <= now()
      return isOver ? undefined : stored
    } catch (error) {
      log(`requesting a new certificate: ${messageOf(error)}`)
      return undefined
    }
  }

  #use(pair: KeyPair): void {
    this.#current = pair
    this.#deadline = renewalTime(pair, this.#options.random())
    this.#options.changed(pair)
  }

  #check(): void {
    const { now, isCurrent } = this.#options
    const waitMs = this.#deadline - now()
    const fits = this.#current !== undefined && (isCurrent?.(this.#current) ?? true)
    if (waitMs <= 0 || !fits) void this.#renew()
    else this.#schedule(Math.min(waitMs, isCurrent ? checkMs : timerMs(waitMs)))
  }

  async #renew(): Promise<void> {
    const { renew, store, now, log, failed } = this.#options
    try {
      const pair = await renew(this.#stopping.signal)
      if (pair) {
        store.save(pair, new Date(now()))
        this.#retryMs = firstRetryMs
        if (!this.#stopping.signal.aborted) this.#use(pair)
      }
      this.#schedule(firstRetryMs)
    } catch (error) {
      if (this.#stopping.signal.aborted) return
      failed?.()
      log(`cannot renew ${store.currentPath}, retrying in ${this.#retryMs / 1000} s: ${messageOf(error)}`)
      this.#schedule(this.#retryMs)
      this.#retryMs = Math.min(2 * this.#retryMs, longestRetryMs)
    }
  }

  #schedule(ms: number): void {
    if (!this.#stopping.signal.aborted) this.#cancel = this.#options.schedule(() => this.#check(), ms)
  }
}

/** The time of the renewal in ms since 1970; `random` is at least 0 and below 1. */
export function renewalTime(pair: KeyPair, random: number): number {
  const { validFromDate, validToDate } = certificateOf(pair)
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()]
  return from + (to - from) * (0.7 + 0.2 * random)
}
