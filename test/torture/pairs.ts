/** What the writer writes and the judge reads: values that carry a count and are of very different sizes. */

import type { Tuning } from '../../src/storage/log/index.ts'

/** Small files, given back all the time, so that kills hit the middle of it. */
export const tuning: Partial<Tuning> = {
  segmentBytes: 512 * 1024,
  cleaning: { minBytes: 1024 * 1024, moveBytes: 32 * 1024, pauseMs: 0 },
}

/** As many writers at a time. */
export const pairs = 24

export const pairKeys = (pair: number) => ({ a: `/pair/${pair}/a`, b: `/pair/${pair}/b`, odd: `/pair/${pair}/odd` })

/** A count and padding: mostly some kilobytes, sometimes a hundred kilobytes. */
export function paddedValue(count: number): Buffer {
  const size = count % 97 === 0 ? 100_000 : 20 + ((count * 7919) % 5_000)
  return Buffer.alloc(size, `${count} `)
}

/** Throws if the value is not one that `paddedValue` made. */
export function countOf(value: Buffer): number {
  const count = Number.parseInt(value.toString('latin1', 0, 16), 10)
  if (!value.equals(paddedValue(count)))
    throw new Error(`a value of ${value.length} bytes is not the one of count ${count}`)
  return count
}
