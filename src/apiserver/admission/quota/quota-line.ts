/**
 * The line in which writes of a namespace wait for its quotas: all that wait are held against them together and paid
 * for with one write of each quota's status, so that no two are given the same room. Counting anew stands in the same
 * line.
 */
import type { ResourceList } from '../../../api/core/quota/resource-list.ts'
import { onlyNamed, sameAmounts, sum } from '../../../api/core/quota/resource-lists.ts'
import { conflict, internal, objectModified } from '../../../machinery/status-error.ts'
import type { StoredObject } from '../../registry/stored-object.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { type Charges, checkRequest } from './check-request.ts'
import type { LimitedResource } from './configuration.ts'
import type { Evaluator } from './evaluators.ts'
import type { Quota } from './quota.ts'
import { isCounted, type QuotaBook } from './quota-book.ts'
import type { UsageCount } from './usage-count.ts'

interface Waiting {
  readonly attributes: AdmissionAttributes
  readonly evaluator: Evaluator
  readonly settle: (refusal?: Error) => void
}

/** What was paid for and is not in the store yet, or never will be. */
interface Reservation {
  readonly attributes: AdmissionAttributes
  /** The revision that the write replaces; 0 for a new object. */
  readonly before: number
  /** By the quota's uid. */
  readonly charges: ReadonlyMap<string, ResourceList>
  readonly until: number
}

/** As upstream: who has waited so long is refused. */
const patienceMs = 10_000
/** So often another server may have been faster. */
const maxAttempts = 10
/** After so long, what was paid for and has not come is not coming. */
const reservationMs = 5_000

export interface LineOptions {
  readonly namespace: string
  readonly book: QuotaBook
  readonly usage: UsageCount
  readonly limited: readonly LimitedResource[]
  /** Called when something has been paid for that is not there yet: it is to be counted again. */
  readonly countLater: () => void
  readonly log: (line: string) => void
}

export class QuotaLine {
  readonly #options: LineOptions
  #waiting: Waiting[] = []
  /** By the object's key. */
  readonly #reservations = new Map<string, Reservation[]>()
  #toCount = false
  #busy = false

  constructor(options: LineOptions) {
    this.#options = options
  }

  /** Nobody waits, and nothing has been paid for that is not there. */
  get idle(): boolean {
    return !this.#busy && this.#reservations.size === 0
  }

  /** Resolves when the write is paid for; rejects with a StatusError if there is no room for it. */
  check(attributes: AdmissionAttributes, evaluator: Evaluator): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(
        () => reject(internal('Internal error occurred: resource quota evaluation timed out')),
        patienceMs,
      )
      late.unref()
      const settle = (refusal?: Error): void => {
        clearTimeout(late)
        if (refusal) reject(refusal)
        else resolve()
      }
      this.#waiting.push({ attributes, evaluator, settle })
      this.#begin()
    })
  }

  /** Counts what the namespace uses, and writes it where the quotas say otherwise. */
  recount(): void {
    this.#toCount = true
    this.#begin()
  }

  #begin(): void {
    if (this.#busy) return
    this.#busy = true
    this.#work().catch((error) => this.#options.log(`quotas of namespace ${this.#options.namespace}: ${error}`))
  }

  async #work(): Promise<void> {
    try {
      while (this.#waiting.length > 0 || this.#toCount) {
        if (this.#toCount) {
          this.#toCount = false
          await this.#count()
        }
        const batch = this.#waiting
        this.#waiting = []
        if (batch.length > 0) await this.#checkAll(batch)
      }
    } finally {
      this.#busy = false
    }
  }

  async #checkAll(batch: readonly Waiting[]): Promise<void> {
    const { book, namespace } = this.#options
    try {
      await this.#attempt(book.in(namespace), batch, new Map(), 1)
    } catch (error) {
      for (const { settle } of batch) settle(error instanceof Error ? error : new Error(String(error)))
    }
  }

  /** `paid`: what the waiting have paid of other quotas already. */
  async #attempt(
    quotas: readonly Quota[],
    batch: readonly Waiting[],
    paid: ReadonlyMap<Waiting, ReadonlyMap<string, ResourceList>>,
    attempt: number,
  ): Promise<void> {
    const { book, limited } = this.#options
    // The quotas as they will be when all who fit have been paid for.
    const running = new Map(quotas.map((quota) => [quota.uid, quota]))
    const charged = new Map<Waiting, ReadonlyMap<string, ResourceList>>()
    for (const one of batch) {
      let charges: Charges
      try {
        charges = checkRequest([...running.values()], one.attributes, one.evaluator, limited)
      } catch (error) {
        one.settle(error instanceof Error ? error : new Error(String(error)))
        continue
      }
      if (one.attributes.dryRun) {
        one.settle()
        continue
      }
      const all = new Map(paid.get(one))
      for (const [quota, charge] of charges) {
        running.set(quota.uid, { ...quota, used: sum(quota.used, charge) })
        all.set(quota.uid, charge)
      }
      charged.set(one, all)
    }

    const lost: Quota[] = []
    for (const quota of quotas) {
      const { hard, used } = running.get(quota.uid)!
      if (!sameAmounts(used, quota.used) && !(await book.write(quota, { hard, used }))) lost.push(quota)
    }
    const lostUids = new Set(lost.map(({ uid }) => uid))
    const again: Waiting[] = []
    for (const [one, charges] of charged) {
      if ([...charges.keys()].some((uid) => lostUids.has(uid))) again.push(one)
      else this.#settle(one, charges)
    }
    if (again.length === 0) return
    if (attempt >= maxAttempts) {
      for (const { settle } of again)
        settle(conflict({ group: '', name: 'resourcequotas' }, lost[0]!.name, objectModified))
      return
    }
    // Another server was faster. What the others were paid of stays paid.
    const kept = new Map(
      again.map((one) => [one, new Map([...charged.get(one)!].filter(([uid]) => !lostUids.has(uid)))]),
    )
    await this.#attempt(await book.newest(lost), again, kept, attempt + 1)
  }

  #settle(one: Waiting, charges: ReadonlyMap<string, ResourceList>): void {
    if (charges.size > 0) {
      const { resource, namespace, name, old } = one.attributes
      const key = resource.key(namespace, name)
      const reservation = {
        attributes: one.attributes,
        before: Number(old?.metadata.resourceVersion ?? 0),
        charges,
        until: Date.now() + reservationMs,
      }
      this.#reservations.set(key, [...(this.#reservations.get(key) ?? []), reservation])
    }
    one.settle()
  }

  async #count(): Promise<void> {
    const { book, usage, namespace } = this.#options
    await usage.follow(book.in(namespace))
    // From here on in one turn: what is counted, and what has been paid for and is not there yet, belong together.
    const quotas = book.in(namespace)
    this.#keepReservations(Date.now())
    const reserved = [...this.#reservations.values()].flat()
    const counts = quotas.map((quota) => {
      const counted = usage.count(quota)
      const used = reserved.reduce(
        (total, { charges }) => sum(total, onlyNamed(charges.get(quota.uid) ?? {}, Object.keys(counted))),
        counted,
      )
      return { quota, used }
    })
    if (reserved.length > 0) this.#options.countLater()
    for (const { quota, used } of counts) {
      if (isCounted(quota) && sameAmounts(used, quota.used)) continue
      if (!(await book.write(quota, { hard: quota.wanted, used }))) this.#toCount = book.has(namespace)
    }
  }

  /** A write is in the store: what is counted has it in it from now on. */
  seen({ key, revision }: StoredObject): void {
    if (this.#reservations.has(key)) this.#keep(key, ({ before }) => revision <= before)
  }

  #keepReservations(now: number): void {
    for (const key of [...this.#reservations.keys()])
      this.#keep(key, (reservation) => reservation.until > now && !this.#isThere(reservation))
  }

  /** Also where somebody else has made the object of that name: then this one never will be. */
  #isThere({ attributes: { resource, namespace, name }, before }: Reservation): boolean {
    return this.#options.usage.revision(resource, namespace, name) > before
  }

  #keep(key: string, isOpen: (reservation: Reservation) => boolean): void {
    const open = this.#reservations.get(key)!.filter(isOpen)
    if (open.length > 0) this.#reservations.set(key, open)
    else this.#reservations.delete(key)
  }
}
