/**
 * The queue of writes in a namespace that wait for its quotas. All waiting writes are checked together and charged with
 * one status update per quota, so that no amount is granted twice. Recounts run in the same queue.
 */
import type { ResourceList } from '../../../api/core/quota/resource-list.ts'
import { onlyNamed, sameAmounts, sum } from '../../../api/core/quota/resource-lists.ts'
import { conflict, internal, objectModified } from '../../../machinery/status-error.ts'
import type { StoredObject } from '../../registry/stored-object.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { type Charges, checkRequest } from './check-request.ts'
import type { LimitedResource } from './configuration.ts'
import type { Quota } from './quota.ts'
import { isCounted, type QuotaCache, reservationMs } from './quota-cache.ts'
import type { Evaluator } from './usage/evaluators.ts'
import type { UsageCounter } from './usage/usage-counter.ts'

/** A write that waits for its check. */
interface WaitingWrite {
  readonly attributes: AdmissionAttributes
  readonly evaluator: Evaluator
  readonly settle: (refusal?: Error) => void
}

/** Charges by the uid of the quota. */
type UidCharges = ReadonlyMap<string, ResourceList>

/** The charge for a write that was checked and is not stored yet; it may also have failed since. */
interface Reservation {
  readonly attributes: AdmissionAttributes
  /** The revision that the write replaces; 0 for a new object. */
  readonly before: number
  readonly charges: UidCharges
  readonly until: number
}

/** As upstream: a write that waits longer is rejected. In ms. */
const maxWaitMs = 10_000
/** The number of attempts when other servers update the quotas at the same time. */
const maxAttempts = 10

export interface QuotaQueueOptions {
  readonly namespace: string
  readonly quotaCache: QuotaCache
  readonly usage: UsageCounter
  readonly limited: readonly LimitedResource[]
  /** Called when charged writes are not stored yet: usage has to be recounted later. */
  readonly countLater: () => void
  readonly log: (line: string) => void
}

export class QuotaQueue {
  readonly #options: QuotaQueueOptions
  #waiting: WaitingWrite[] = []
  /** By the object's key. */
  readonly #reservations = new Map<string, Reservation[]>()
  #needsRecount = false
  #isBusy = false

  constructor(options: QuotaQueueOptions) {
    this.#options = options
  }

  /** True if no write waits for its check or for its commit. */
  get isIdle(): boolean {
    return !this.#isBusy && this.#reservations.size === 0
  }

  /** Resolves when the write is charged; rejects with a StatusError if it exceeds a quota. */
  check(attributes: AdmissionAttributes, evaluator: Evaluator): Promise<void> {
    return new Promise((resolve, reject) => {
      const timeout = setTimeout(
        () => reject(internal('Internal error occurred: resource quota evaluation timed out')),
        maxWaitMs,
      )
      timeout.unref()
      const settle = (refusal?: Error): void => {
        clearTimeout(timeout)
        if (refusal) reject(refusal)
        else resolve()
      }
      this.#waiting.push({ attributes, evaluator, settle })
      this.#begin()
    })
  }

  /** Recounts the usage of the namespace, and updates quotas that differ. */
  recount(): void {
    this.#needsRecount = true
    this.#begin()
  }

  #begin(): void {
    if (this.#isBusy) return
    this.#isBusy = true
    this.#work().catch((error) => this.#options.log(`quotas of namespace ${this.#options.namespace}: ${error}`))
  }

  async #work(): Promise<void> {
    try {
      while (this.#waiting.length > 0 || this.#needsRecount) {
        if (this.#needsRecount) {
          this.#needsRecount = false
          await this.#count()
        }
        const batch = this.#waiting
        this.#waiting = []
        if (batch.length > 0) await this.#checkAll(batch)
      }
    } finally {
      this.#isBusy = false
    }
  }

  async #checkAll(batch: readonly WaitingWrite[]): Promise<void> {
    const { quotaCache, namespace } = this.#options
    try {
      await this.#attempt(quotaCache.in(namespace), batch, new Map(), 1)
    } catch (error) {
      for (const { settle } of batch) settle(error instanceof Error ? error : new Error(String(error)))
    }
  }

  /** `paid` has the charges to other quotas from earlier attempts. */
  async #attempt(
    quotas: readonly Quota[],
    batch: readonly WaitingWrite[],
    paid: ReadonlyMap<WaitingWrite, UidCharges>,
    attempt: number,
  ): Promise<void> {
    const { charged, running } = this.#chargeAll(quotas, batch, paid)
    const conflicting = await this.#writeUsage(quotas, running)
    const uids = new Set(conflicting.map(({ uid }) => uid))
    const retries: WaitingWrite[] = []
    for (const [write, charges] of charged) {
      if ([...charges.keys()].some((uid) => uids.has(uid))) retries.push(write)
      else this.#settle(write, charges)
    }
    if (retries.length === 0) return
    if (attempt >= maxAttempts) {
      for (const { settle } of retries)
        settle(conflict({ group: '', name: 'resourcequotas' }, conflicting[0]!.name, objectModified))
      return
    }
    // Another server was faster. Charges to the other quotas remain.
    const paidElsewhere = new Map(
      retries.map((write) => [write, new Map([...charged.get(write)!].filter(([uid]) => !uids.has(uid)))]),
    )
    await this.#attempt(await this.#options.quotaCache.newest(conflicting), retries, paidElsewhere, attempt + 1)
  }

  /**
   * Charges the writes in memory, one after the other; rejects those that exceed a quota. `running` has the quotas with
   * all charges.
   */
  #chargeAll(
    quotas: readonly Quota[],
    batch: readonly WaitingWrite[],
    paid: ReadonlyMap<WaitingWrite, UidCharges>,
  ): { readonly charged: ReadonlyMap<WaitingWrite, UidCharges>; readonly running: ReadonlyMap<string, Quota> } {
    const running = new Map(quotas.map((quota) => [quota.uid, quota]))
    const charged = new Map<WaitingWrite, UidCharges>()
    for (const write of batch) {
      let charges: Charges
      try {
        charges = checkRequest([...running.values()], write.attributes, write.evaluator, this.#options.limited)
      } catch (error) {
        write.settle(error instanceof Error ? error : new Error(String(error)))
        continue
      }
      if (write.attributes.dryRun) {
        write.settle()
        continue
      }
      const all = new Map(paid.get(write))
      for (const [quota, charge] of charges) {
        running.set(quota.uid, { ...quota, used: sum(quota.used, charge) })
        all.set(quota.uid, charge)
      }
      charged.set(write, all)
    }
    return { charged, running }
  }

  /** Writes the usage of changed quotas. Returns those that another server has updated in the meantime. */
  async #writeUsage(quotas: readonly Quota[], running: ReadonlyMap<string, Quota>): Promise<Quota[]> {
    const conflicting: Quota[] = []
    for (const quota of quotas) {
      const { hard, used } = running.get(quota.uid)!
      if (sameAmounts(used, quota.used)) continue
      if (!(await this.#options.quotaCache.write(quota, { hard, used }))) conflicting.push(quota)
    }
    return conflicting
  }

  #settle(write: WaitingWrite, charges: UidCharges): void {
    if (charges.size > 0) {
      const { resource, namespace, name, old } = write.attributes
      const key = resource.key(namespace, name)
      const reservation = {
        attributes: write.attributes,
        before: Number(old?.metadata.resourceVersion ?? 0),
        charges,
        until: Date.now() + reservationMs,
      }
      this.#reservations.set(key, [...(this.#reservations.get(key) ?? []), reservation])
    }
    write.settle()
  }

  async #count(): Promise<void> {
    const { quotaCache, usage, namespace } = this.#options
    await usage.watch(quotaCache.in(namespace))
    // Synchronous from here on: the counted objects and the reservations must be of the same moment.
    const quotas = quotaCache.in(namespace)
    this.#expireReservations(Date.now())
    const reserved = [...this.#reservations.values()].flat()
    const counts = quotas.map((quota) => {
      const counted = usage.count(quota)
      const used = reserved.reduce(
        (total, { charges }) => sum(total, onlyNamed(charges.get(quota.uid) ?? {}, Object.keys(counted))),
        counted,
      )
      const retained = quotaCache.retained(quota, used)
      return { quota, used: retained, isFinal: reserved.length === 0 && sameAmounts(used, retained) }
    })
    if (counts.some(({ isFinal }) => !isFinal)) this.#options.countLater()
    for (const { quota, used } of counts) {
      if (isCounted(quota) && sameAmounts(used, quota.used)) continue
      if (!(await quotaCache.write(quota, { hard: quota.specHard, used })))
        this.#needsRecount = quotaCache.has(namespace)
    }
  }

  /** Drops the reservation of a stored write: it is counted from now on. */
  observed({ key, revision }: StoredObject): void {
    if (this.#reservations.has(key)) this.#retainReservations(key, ({ before }) => revision <= before)
  }

  #expireReservations(now: number): void {
    for (const key of [...this.#reservations.keys()])
      this.#retainReservations(key, (reservation) => reservation.until > now && !this.#isStored(reservation))
  }

  /** True also if another request has created an object of that name: the reserved write failed then. */
  #isStored({ attributes: { resource, namespace, name }, before }: Reservation): boolean {
    return this.#options.usage.revision(resource, namespace, name) > before
  }

  #retainReservations(key: string, isOpen: (reservation: Reservation) => boolean): void {
    const open = this.#reservations.get(key)!.filter(isOpen)
    if (open.length > 0) this.#reservations.set(key, open)
    else this.#reservations.delete(key)
  }
}
