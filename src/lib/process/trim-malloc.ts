/**
 * Gives back what malloc holds of memory that was freed. glibc does so by itself only for what lies at the end of its
 * heap: holes between what is still used stay, and after a burst they are half of it (docs/decisions/0048).
 */
import { isMainThread } from 'node:worker_threads'

/** In a smaller process there is less to be had than the library that asks for it takes. */
const worthBytes = 96 * 1024 * 1024

/** Looking through all holes takes some ms, in which nobody gets memory. */
const restMs = 15_000

/** Of malloc.h: gives back all holes of a page and more; `pad` bytes at the end stay. */
type MallocTrim = (pad: number) => number

let loading: Promise<MallocTrim | undefined> | undefined
let rested = Number.NEGATIVE_INFINITY

/**
 * To be called in quiet moments, now and then. The heap is one for all threads, so only the main one does it; in a
 * small process, and where there is no glibc, nothing happens.
 */
export async function trimMalloc(): Promise<void> {
  if (!isMainThread || performance.now() < rested || process.memoryUsage.rss() < worthBytes) return
  rested = performance.now() + restMs
  loading ??= load()
  const trim = await loading
  trim?.(0)
}

async function load(): Promise<MallocTrim | undefined> {
  try {
    const { default: koffi } = await import('koffi')
    return koffi.load('libc.so.6').func('int malloc_trim(size_t pad)') as unknown as MallocTrim
  } catch {
    // Another system, or an installation without the packages that are optional.
    return undefined
  }
}
