/** Devices that are parts of others: the counters that they share (KEP-4815). Amounts are in billionths. */
import { parseQuantity } from '../../../../machinery/values/quantity.ts'
import type { Device } from './devices.ts'
import type { Pool } from './pools.ts'

/** What is left of a pool's counters, as devices are taken and given back. */
export class Counters {
  /** By pool, then by set and counter. */
  readonly #left = new Map<Pool, Map<string, bigint>>()
  readonly #isTaken: (id: string) => boolean

  /** `isTaken`: whether a device is allocated to anybody. */
  constructor(isTaken: (id: string) => boolean) {
    this.#isTaken = isTaken
  }

  /** Takes what a device needs; false, and nothing has changed, where that is not there. */
  take(device: Device, pool: Pool): boolean {
    const needs = needsOf(device)
    if (needs.length === 0) return true
    const left = this.#of(pool)
    if (needs.some(([key, amount]) => (left.get(key) ?? 0n) < amount)) return false
    this.#change(left, needs, -1n)
    return true
  }

  giveBack(device: Device, pool: Pool): void {
    const needs = needsOf(device)
    if (needs.length > 0) this.#change(this.#of(pool), needs, 1n)
  }

  #of(pool: Pool): Map<string, bigint> {
    let left = this.#left.get(pool)
    if (left) return left
    left = new Map()
    for (const { name, counters } of pool.counterSets.values())
      for (const [counter, { value }] of Object.entries(counters))
        left.set(`${name}/${counter}`, parseQuantity(value).nano)
    for (const [id, device] of pool.consumers) if (this.#isTaken(id)) this.#change(left, needsOf(device), -1n)
    this.#left.set(pool, left)
    return left
  }

  #change(left: Map<string, bigint>, needs: readonly (readonly [string, bigint])[], sign: 1n | -1n): void {
    for (const [key, amount] of needs) left.set(key, (left.get(key) ?? 0n) + sign * amount)
  }
}

const needsOf = ({ consumesCounters = [] }: Device): (readonly [string, bigint])[] =>
  consumesCounters.flatMap(({ counterSet, counters }) =>
    Object.entries(counters).map(
      ([counter, { value }]) => [`${counterSet}/${counter}`, parseQuantity(value).nano] as const,
    ),
  )
