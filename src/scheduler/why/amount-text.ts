/** Formats amounts of resources for people. */

const units = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi']

/**
 * `amount` is in thousandths of a CPU, bytes of memory and storage, or units of anything else: `500m`, `1.5Gi`, `3`.
 */
export function amountText(resource: string, amount: number): string {
  if (resource === 'cpu') return amount % 1000 === 0 ? `${amount / 1000}` : `${amount}m`
  if (resource !== 'memory' && resource !== 'ephemeral-storage' && !resource.startsWith('hugepages-'))
    return `${amount}`
  let value = amount
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  // Rounded up, so that the amount is sufficient.
  return `${Math.ceil(value * 100) / 100}${units[unit]}`
}
