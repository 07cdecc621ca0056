/**
 * Returns freed memory of malloc to the system. glibc itself only returns memory at the end of its heap; holes between
 * used blocks remain, after a burst half of the heap (docs/decisions/0048).
 */
import { isMainThread } from 'node:worker_threads'

/** In a smaller process, the library for the call takes more memory than it returns. */
const worthBytes = 96 * 1024 * 1024

/** Minimum interval in ms: a trim takes some ms, which block all allocations. */
const minIntervalMs = 15_000

/** malloc_trim of malloc.h: returns all holes of at least a page; keeps `pad` bytes at the end. */
type MallocTrim = (pad: number) => number

let loading: Promise<MallocTrim | undefined> | undefined
let nextAllowed = Number.NEGATIVE_INFINITY

/**
 * Call it periodically in quiet moments. Threads share the heap, so only the main thread trims it; does nothing in
 * small processes and without glibc.
 */
export async function trimMalloc(): Promise<void> {
  if (!isMainThread || performance.now() < nextAllowed || process.memoryUsage.rss() < worthBytes) return
  nextAllowed = performance.now() + minIntervalMs
  loading ??= load()
  const trim = await loading
  trim?.(0)
}

async function load(): Promise<MallocTrim | undefined> {
  try {
    const { cLibrary } = await import('../../linux/c-library.ts')
    return cLibrary().declare<[pad: number]>('int malloc_trim(size_t pad)')
  } catch {
    // Another system, or an installation without optional packages.
    return undefined
  }
}
