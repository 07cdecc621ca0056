/** Which images are removed, and in which order. Pure functions over records of images. */

export interface ImageRecord {
  readonly id: string
  /** In bytes. */
  readonly size: number
  /** Ms since 1970 at which it was first seen. */
  readonly firstSeen: number
  /** Ms since 1970 at which a container last used it; 0: never. */
  readonly lastUsed: number
  /** True if a container uses it, the runtime has pinned it, or sandboxes need it: it is never removed. */
  readonly isProtected: boolean
}

/** The images that may be removed, least recently used first. */
export const evictionOrder = (records: Iterable<ImageRecord>): ImageRecord[] =>
  [...records]
    .filter(({ isProtected }) => !isProtected)
    .sort((a, b) => a.lastUsed - b.lastUsed || a.firstSeen - b.firstSeen)

/** True if an image has not been used for too long; `maxAgeMs` 0 means that images have no maximum age. */
export const isTooOld = ({ firstSeen, lastUsed }: ImageRecord, maxAgeMs: number, now: number): boolean =>
  maxAgeMs > 0 && now - Math.max(firstSeen, lastUsed) > maxAgeMs

/** True if an image may have been pulled for a container that is about to start. */
export const isTooYoung = ({ firstSeen }: ImageRecord, minAgeMs: number, now: number): boolean =>
  now - firstSeen < minAgeMs

export interface DiskUsage {
  /** In bytes. */
  readonly capacity: number
  readonly available: number
}

export interface Thresholds {
  readonly highPercent: number
  readonly lowPercent: number
}

/** Percent of a disk in use, rounded up, as upstream. */
export const usedPercent = ({ capacity, available }: DiskUsage): number =>
  100 - Math.floor((Math.min(available, capacity) * 100) / capacity)

/** Returns the bytes to free so that the low threshold is reached; 0 below the high one. */
export function bytesToFree(disk: DiskUsage, { highPercent, lowPercent }: Thresholds): number {
  if (usedPercent(disk) < highPercent) return 0
  return Math.max(0, Math.floor((disk.capacity * (100 - lowPercent)) / 100) - Math.min(disk.available, disk.capacity))
}

/** For example `26.4 GiB`. */
export function formatSize(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB']
  let value = bytes
  let unit = 0
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024
  return unit === 0 ? `${bytes} B` : `${value.toFixed(1)} ${units[unit]}`
}
