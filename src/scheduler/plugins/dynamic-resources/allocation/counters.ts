/** Counters that the partitions of a device share (KEP-4815). Amounts are in billionths. */
import { parseQuantity } from '../../../../machinery/values/quantity.ts'
import type { Device } from './devices.ts'
import type { Pool } from './pools.ts'

/** The remaining counters of pools. */
export class Counters {
  /** By pool, then by set and counter. */
  readonly #remaining = new Map<Pool, Map<string, bigint>>()
  readonly #isTaken: (id: string) => boolean

  /** `isTaken` returns true if a device is allocated. */
  constructor(isTaken: (id: string) => boolean) {
    this.#isTaken = isTaken
  }

  /** Consumes the counters of a device. Returns false without a change if they are insufficient. */
  take(device: Device, pool: Pool): boolean {
    const needs = needsOf(device)
    if (needs.length === 0) return true
    const remaining = this.#remainingOf(pool)
    if (needs.some(([key, amount]) => (remaining.get(key) ?? 0n) < amount)) return false
    this.#change(remaining, needs, -1n)
    return true
  }

  release(device: Device, pool: Pool): void {
    const needs = needsOf(device)
    if (needs.length > 0) this.#change(this.#remainingOf(pool), needs, 1n)
  }

  #remainingOf(pool: Pool): Map<string, bigint> {
    let remaining = this.#remaining.get(pool)
    if (remaining) return remaining
    remaining = new Map()
    for (const { name, counters } of pool.counterSets.values())
      for (const [counter, { value }] of Object.entries(counters))
        remaining.set(`${name}/${counter}`, parseQuantity(value).nano)
    for (const [id, device] of pool.consumers) if (this.#isTaken(id)) this.#change(remaining, needsOf(device), -1n)
    this.#remaining.set(pool, remaining)
    return remaining
  }

  #change(remaining: Map<string, bigint>, needs: readonly (readonly [string, bigint])[], sign: 1n | -1n): void {
    for (const [key, amount] of needs) remaining.set(key, (remaining.get(key) ?? 0n) + sign * amount)
  }
}

const needsOf = ({ consumesCounters = [] }: Device): (readonly [string, bigint])[] =>
  consumesCounters.flatMap(({ counterSet, counters }) =>
    Object.entries(counters).map(
      ([counter, { value }]) => [`${counterSet}/${counter}`, parseQuantity(value).nano] as const,
    ),
  )
