/** Consumable capacity: the parts of shared devices that claims consume (KEP-5075). */
import { own } from '../../../../lib/own.ts'
import { addQuantities, compareQuantities, parseQuantity } from '../../../../machinery/values/quantity.ts'
import type { Capacity, Device, ExactRequest } from './devices.ts'

/** The consumed quantities by capacity name. */
export type Consumption = Readonly<Record<string, string>>

/** The total consumption by capacity name, in billionths. */
export type Sums = Map<string, bigint>

type Wanted = ExactRequest['capacity']
type Policy = NonNullable<Capacity['requestPolicy']>

const amount = (text: string): bigint => parseQuantity(text).nano

/** Adds the consumption to the sums, or subtracts it. */
export function addTo(sums: Sums, taken: Consumption, sign: 1n | -1n): void {
  for (const [name, text] of Object.entries(taken)) sums.set(name, (sums.get(name) ?? 0n) + sign * amount(text))
}

/**
 * The consumption of a device by a request: the requested amount, rounded up by the device's policy. Undefined if the
 * device cannot provide it.
 */
export function consumptionOf(wanted: Wanted, { capacity = {} }: Device): Consumption | undefined {
  const requests = wanted?.requests ?? {}
  if (Object.keys(requests).some((name) => !Object.hasOwn(capacity, name))) return undefined
  const taken: [string, string][] = []
  for (const [name, offered] of Object.entries(capacity)) {
    const requested = own(requests, name)
    const takes =
      requested === undefined
        ? (offered.requestPolicy?.default ?? offered.value)
        : roundedUp(requested, offered.requestPolicy)
    if (!isAllowed(takes, offered.requestPolicy)) return undefined
    taken.push([name, takes])
  }
  return Object.fromEntries(taken)
}

/** Returns true if the device has this much capacity besides that of others. */
export const hasCapacity = (
  { capacity = {} }: Device,
  taken: Consumption,
  others: readonly (Sums | undefined)[],
): boolean =>
  Object.entries(capacity).every(
    ([name, { value }]) =>
      others.reduce((sum, one) => sum + (one?.get(name) ?? 0n), amount(own(taken, name) ?? '0')) <= amount(value),
  )

function roundedUp(requested: string, { validRange, validValues }: Policy = {}): string {
  if (validRange?.min !== undefined) {
    const { min, step } = validRange
    if (compareQuantities(requested, min) < 0) return min
    const over = step === undefined ? 0n : (amount(requested) - amount(min)) % amount(step)
    return step === undefined || over === 0n ? requested : addQuantities(requested, `${amount(step) - over}n`)
  }
  return validValues?.find((value) => compareQuantities(value, requested) >= 0) ?? requested
}

function isAllowed(takes: string, { validRange, validValues = [], default: usual }: Policy = {}): boolean {
  if (usual !== undefined && compareQuantities(takes, usual) === 0) return true
  if (validRange) {
    const { min, max, step } = validRange
    if (max !== undefined && compareQuantities(takes, max) > 0) return false
    return step === undefined || (amount(takes) - amount(min)) % amount(step) === 0n
  }
  return validValues.length === 0 || validValues.some((value) => compareQuantities(value, takes) === 0)
}
