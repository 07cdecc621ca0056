/** Texts of amounts as a kubelet of upstream reports them. */
import { canonicalQuantity } from '../../machinery/values/quantity.ts'

/** `500m` for 500 thousandths, `2` for 2000. */
export const cpuQuantity = (milli: bigint): string => canonicalQuantity(`${milli}m`)

/** `64Mi` for 67108864 bytes. */
export function memoryQuantity(bytes: bigint): string {
  const suffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
  let amount = bytes
  let suffix = 0
  while (amount > 0n && amount % 1024n === 0n && suffix < suffixes.length - 1) {
    amount /= 1024n
    suffix++
  }
  return `${amount}${suffixes[suffix]}`
}
