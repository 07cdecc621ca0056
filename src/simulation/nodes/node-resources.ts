/** The allocatable resources of a node, and the requests of its pods. */
import type { Pod } from '../../client/kinds.ts'
import { parseQuantity } from '../../machinery/values/quantity.ts'
import type { Quantities } from './node-shape.ts'

/** Amounts by resource: CPU in thousandths, others in whole units. */
export type Amounts = Readonly<Record<string, number>>

/** The resource that is insufficient for a pod. */
export interface Shortage {
  readonly resource: string
  readonly requested: number
  readonly used: number
  readonly capacity: number
}

const milli = 1e-6
const whole = 1e-9

export const amountOf = (resource: string, text: string | number): number =>
  Math.ceil(Number(parseQuantity(`${text}`).nano) * (resource === 'cpu' ? milli : whole))

type Requests = Readonly<Record<string, string>> | undefined

const amountsOf = (requests: Requests): Amounts =>
  Object.fromEntries(Object.entries(requests ?? {}).map(([name, text]) => [name, amountOf(name, text)]))

function plus(a: Amounts, b: Amounts): Amounts {
  const sum: Record<string, number> = { ...a }
  for (const [name, amount] of Object.entries(b)) sum[name] = (sum[name] ?? 0) + amount
  return sum
}

function largest(a: Amounts, b: Amounts): Amounts {
  const result: Record<string, number> = { ...a }
  for (const [name, amount] of Object.entries(b)) result[name] = Math.max(result[name] ?? 0, amount)
  return result
}

const none: Amounts = {}
const cache = new WeakMap<object, Amounts>()

/**
 * The requests of a pod (KEP-753): the sum of its containers, or the maximum during initialization, with started
 * sidecars; overridden by pod-level requests (KEP-2837); plus overhead.
 */
export function requestsOf({ spec }: Pod): Amounts {
  if (!spec) return none
  const before = cache.get(spec)
  if (before) return before
  let sidecars: Amounts = none
  let beginning: Amounts = none
  for (const { resources, restartPolicy } of spec.initContainers ?? []) {
    const own = amountsOf(resources?.requests)
    if (restartPolicy === 'Always') sidecars = plus(sidecars, own)
    beginning = largest(beginning, restartPolicy === 'Always' ? sidecars : plus(sidecars, own))
  }
  const together = spec.containers.reduce((sum, { resources }) => plus(sum, amountsOf(resources?.requests)), sidecars)
  const total = plus(
    { ...largest(together, beginning), ...amountsOf(spec.resources?.requests) },
    amountsOf(spec.overhead),
  )
  cache.set(spec, total)
  return total
}

export class NodeResources {
  #allocatable: Amounts = none
  readonly #used: Record<string, number> = {}
  readonly #pods = new Map<string, Amounts>()

  /** Sets the allocatable resources. */
  set allocatable(quantities: Quantities) {
    this.#allocatable = amountsOf(quantities)
  }

  /** Returns the first insufficient resource for one more pod. Unknown resources are not checked. */
  shortage(requests: Amounts): Shortage | undefined {
    const capacity = this.#allocatable.pods ?? 0
    if (this.#pods.size + 1 > capacity) return { resource: 'pods', requested: 1, used: this.#pods.size, capacity }
    for (const [resource, requested] of Object.entries(requests)) {
      const most = this.#allocatable[resource]
      const used = this.#used[resource] ?? 0
      if (requested > 0 && most !== undefined && used + requested > most)
        return { resource, requested, used, capacity: most }
    }
    return undefined
  }

  /** Reserves the requests of a pod, by its uid; once. */
  reserve(uid: string, requests: Amounts): void {
    this.release(uid)
    this.#pods.set(uid, requests)
    for (const [name, amount] of Object.entries(requests)) this.#used[name] = (this.#used[name] ?? 0) + amount
  }

  release(uid: string): void {
    const requests = this.#pods.get(uid)
    if (!requests) return
    this.#pods.delete(uid)
    for (const [name, amount] of Object.entries(requests)) this.#used[name] = (this.#used[name] ?? 0) - amount
  }
}
