/** Waits for a slow reader: data written faster than it reads would pile up in memory. */
import type { Writable } from 'node:stream'

/**
 * Resolves when the stream takes more data, immediately if it does now, and when it has ended or its peer has
 * disconnected.
 */
export function drained(stream: Writable): Promise<void> {
  if (!stream.writableNeedDrain || stream.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done)
      stream.off('close', done)
      resolve()
    }
    stream.on('drain', done)
    stream.on('close', done)
  })
}
