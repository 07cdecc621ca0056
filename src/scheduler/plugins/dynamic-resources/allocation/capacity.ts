/** Devices that several claims share: what each takes of their capacity (KEP-5075). */
import { own } from '../../../../lib/own.ts'
import { addQuantities, compareQuantities, parseQuantity } from '../../../../machinery/values/quantity.ts'
import type { Capacity, Device, ExactRequest } from './devices.ts'

/** What is taken, by the capacity's name: as quantities. */
export type Taken = Readonly<Record<string, string>>

/** What is taken altogether, in billionths. */
export type Sums = Map<string, bigint>

type Wanted = ExactRequest['capacity']
type Policy = NonNullable<Capacity['requestPolicy']>

const amount = (text: string): bigint => parseQuantity(text).nano

/** Adds what was taken to the sums, or takes it out of them. */
export function addTo(sums: Sums, taken: Taken, sign: 1n | -1n): void {
  for (const [name, text] of Object.entries(taken)) sums.set(name, (sums.get(name) ?? 0n) + sign * amount(text))
}

/**
 * What a request takes of a device: as much as it asks for, rounded up as the device's policy says. Undefined if the
 * device cannot give that.
 */
export function takenBy(wanted: Wanted, { capacity = {} }: Device): Taken | undefined {
  const requests = wanted?.requests ?? {}
  if (Object.keys(requests).some((name) => !Object.hasOwn(capacity, name))) return undefined
  const taken: [string, string][] = []
  for (const [name, offered] of Object.entries(capacity)) {
    const asked = own(requests, name)
    const takes =
      asked === undefined ? (offered.requestPolicy?.default ?? offered.value) : roundedUp(asked, offered.requestPolicy)
    if (!isAllowed(takes, offered.requestPolicy)) return undefined
    taken.push([name, takes])
  }
  return Object.fromEntries(taken)
}

/** Whether a device has this much, beside what others have. */
export const hasRoom = ({ capacity = {} }: Device, taken: Taken, others: readonly (Sums | undefined)[]): boolean =>
  Object.entries(capacity).every(
    ([name, { value }]) =>
      others.reduce((sum, one) => sum + (one?.get(name) ?? 0n), amount(own(taken, name) ?? '0')) <= amount(value),
  )

function roundedUp(asked: string, { validRange, validValues }: Policy = {}): string {
  if (validRange?.min !== undefined) {
    const { min, step } = validRange
    if (compareQuantities(asked, min) < 0) return min
    const over = step === undefined ? 0n : (amount(asked) - amount(min)) % amount(step)
    return step === undefined || over === 0n ? asked : addQuantities(asked, `${amount(step) - over}n`)
  }
  return validValues?.find((value) => compareQuantities(value, asked) >= 0) ?? asked
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
