/** Amounts of the node that pods do not get: those of the system and of Kubernetes, and the thresholds of evictions. */
import { addQuantities, compareQuantities, wholeValue } from '../../machinery/values/quantity.ts'
import { amountText, parseThresholds } from '../eviction/thresholds.ts'

type Amounts = Readonly<Record<string, string>>

export interface Reservations {
  readonly systemReserved: Amounts
  readonly kubeReserved: Amounts
  readonly evictionHard: Amounts
}

const noSoftThresholds = { evictionSoft: {}, evictionSoftGracePeriod: {}, evictionMinimumReclaim: {} }

/** The resources whose thresholds count: with less than these amounts free, pods would be evicted. */
const thresholdResources: Amounts = { 'memory.available': 'memory', 'nodefs.available': 'ephemeral-storage' }

/** Adds up the reservations by resource. Thresholds in percent are parts of the capacity. */
export function reservedAmounts(
  { systemReserved, kubeReserved, evictionHard }: Reservations,
  capacity: Amounts,
): Record<string, string> {
  const sum: Record<string, string> = {}
  const thresholds: Record<string, string> = {}
  for (const { signal, value } of parseThresholds({ ...noSoftThresholds, evictionHard })) {
    const resource = thresholdResources[signal]
    if (resource !== undefined) thresholds[resource] = amountText(value, Number(wholeValue(capacity[resource] ?? '0')))
  }
  for (const amounts of [systemReserved, kubeReserved, thresholds])
    for (const [name, amount] of Object.entries(amounts)) {
      const before = sum[name]
      sum[name] = before === undefined ? amount : addQuantities(before, amount)
    }
  return sum
}

/** Returns upstream's text for each resource of which more is reserved than the node has. */
export const reservationFaults = (capacity: Amounts, reserved: Amounts): string[] =>
  Object.entries(reserved).flatMap(([name, amount]) => {
    const has = capacity[name]
    return has === undefined || compareQuantities(amount, has) <= 0
      ? []
      : [
          `Resource ${JSON.stringify(name)} has a reservation of ${amount} but capacity of ${has}. ` +
            'Expected capacity >= reservation.',
        ]
  })
