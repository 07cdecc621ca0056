/** The values that the writer writes and the checks read: they contain a count and differ greatly in size. */

import type { Tuning } from '../../src/storage/log/index.ts'

/** Small files, cleaned constantly, so that kills happen during cleaning. */
export const tuning: Partial<Tuning> = {
  segmentBytes: 512 * 1024,
  cleaning: { minBytes: 1024 * 1024, moveBytes: 32 * 1024, pauseMs: 0 },
}

/** Number of concurrent writers. */
export const pairs = 24

export const pairKeys = (pair: number) => ({ a: `/pair/${pair}/a`, b: `/pair/${pair}/b`, odd: `/pair/${pair}/odd` })

/** A count and padding: mostly some kilobytes, sometimes a hundred. */
export function paddedValue(count: number): Buffer {
  const size = count % 97 === 0 ? 100_000 : 20 + ((count * 7919) % 5_000)
  return Buffer.alloc(size, `${count} `)
}

/** Throws if the value is not from `paddedValue`. */
export function countOf(value: Buffer): number {
  const count = Number.parseInt(value.toString('latin1', 0, 16), 10)
  if (!value.equals(paddedValue(count)))
    throw new Error(`a value of ${value.length} bytes is not the one of count ${count}`)
  return count
}
