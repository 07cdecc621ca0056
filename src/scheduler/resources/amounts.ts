/** Amounts of resources as numbers, for arithmetic that is done for every node: cpu in thousandths, all others in whole units (bytes). */
import { isHugePages } from '../../api/core/quota/resource-list.ts'
import { milliValue, wholeValue } from '../../machinery/values/quantity.ts'

export interface Amounts {
  /** Thousandths of a core. */
  cpu: number
  /** Bytes. */
  memory: number
  /** Bytes. */
  ephemeralStorage: number
  /** Extended resources, huge pages and what else nodes have, by name. */
  readonly scalars: Map<string, number>
}

/** As lists of resources are on the wire. */
export type ResourceQuantities = Readonly<Record<string, string>>

export const noAmounts = (): Amounts => ({ cpu: 0, memory: 0, ephemeralStorage: 0, scalars: new Map() })

/** Rounded up. Throws a QuantityError for what is no quantity. */
export function amountsOf(list: ResourceQuantities | undefined): Amounts {
  const amounts = noAmounts()
  for (const name in list) {
    const quantity = list[name] ?? '0'
    if (name === 'cpu') amounts.cpu = Number(milliValue(quantity))
    else if (name === 'memory') amounts.memory = Number(wholeValue(quantity))
    else if (name === 'ephemeral-storage') amounts.ephemeralStorage = Number(wholeValue(quantity))
    else if (isScalarResource(name)) amounts.scalars.set(name, Number(wholeValue(quantity)))
  }
  return amounts
}

/** Adds `more` to `sum`, in place; takes it away with `times` -1. */
export function addAmounts(sum: Amounts, more: Amounts, times: 1 | -1 = 1): void {
  sum.cpu += times * more.cpu
  sum.memory += times * more.memory
  sum.ephemeralStorage += times * more.ephemeralStorage
  if (more.scalars.size === 0) return
  for (const [name, amount] of more.scalars) sum.scalars.set(name, (sum.scalars.get(name) ?? 0) + times * amount)
}

/** Zero for what is not there. */
export function amountOf({ cpu, memory, ephemeralStorage, scalars }: Amounts, name: string): number {
  if (name === 'cpu') return cpu
  if (name === 'memory') return memory
  if (name === 'ephemeral-storage') return ephemeralStorage
  return scalars.get(name) ?? 0
}

/** Whether a resource is counted beside cpu, memory and ephemeral storage: names with a domain, huge pages, volumes that can be attached. */
export const isScalarResource = (name: string): boolean =>
  (name.includes('/') && !name.startsWith('requests.')) || isHugePages(name) || name.startsWith('attachable-volumes-')
