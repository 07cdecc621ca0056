/** How much room a node has for pods: what it can give, and what pods on it ask for. */
import type { Pod } from '../../client/kinds.ts'
import { parseQuantity } from '../../machinery/values/quantity.ts'
import type { Quantities } from './node-shape.ts'

/** Amounts by resource: cpu in thousandths, everything else whole. */
export type Amounts = Readonly<Record<string, number>>

/** What a pod would need more than there is. */
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
const known = new WeakMap<object, Amounts>()

/**
 * What a pod asks for (KEP-753): its containers together, or the most that it needs while it begins, where sidecars
 * that have begun count; what is asked for the pod as a whole (KEP-2837) instead; its overhead on top.
 */
export function requestsOf({ spec }: Pod): Amounts {
  if (!spec) return none
  const before = known.get(spec)
  if (before) return before
  let sidecars: Amounts = none
  let beginning: Amounts = none
  for (const { resources, restartPolicy } of spec.initContainers ?? []) {
    const own = amountsOf(resources?.requests)
    if (restartPolicy === 'Always') sidecars = plus(sidecars, own)
    beginning = largest(beginning, restartPolicy === 'Always' ? sidecars : plus(sidecars, own))
  }
  const together = spec.containers.reduce((sum, { resources }) => plus(sum, amountsOf(resources?.requests)), sidecars)
  const asked = plus(
    { ...largest(together, beginning), ...amountsOf(spec.resources?.requests) },
    amountsOf(spec.overhead),
  )
  known.set(spec, asked)
  return asked
}

export class Room {
  #allocatable: Amounts = none
  readonly #used: Record<string, number> = {}
  readonly #pods = new Map<string, Amounts>()

  /** What the node can give. */
  set allocatable(quantities: Quantities) {
    this.#allocatable = amountsOf(quantities)
  }

  /** What is missing for one more pod, or nothing. Resources that the node does not know are somebody else's. */
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

  /** A pod takes its part, by its uid; once. */
  take(uid: string, requests: Amounts): void {
    this.giveBack(uid)
    this.#pods.set(uid, requests)
    for (const [name, amount] of Object.entries(requests)) this.#used[name] = (this.#used[name] ?? 0) + amount
  }

  giveBack(uid: string): void {
    const requests = this.#pods.get(uid)
    if (!requests) return
    this.#pods.delete(uid)
    for (const [name, amount] of Object.entries(requests)) this.#used[name] = (this.#used[name] ?? 0) - amount
  }
}
