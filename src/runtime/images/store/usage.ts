/** The space of folders, as `du` counts it. */
import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { errorCode } from '../../../lib/explained-error.ts'

export interface StoreUsage {
  /** Allocated on the disk, in bytes. */
  readonly bytes: number
  readonly inodes: number
}

const blockBytes = 512
/** Entries between two turns of the event loop. */
const turn = 500

/** Sums up folders; hard links count once. Missing folders, and files that vanish meanwhile, are empty. */
export async function usageOf(folders: readonly string[]): Promise<StoreUsage> {
  const seen = new Set<string>()
  const pending = [...folders]
  let bytes = 0
  let inodes = 0
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const stats = ifPresent(() => lstatSync(path!))
    if (!stats) continue
    if (stats.nlink > 1 && !stats.isDirectory()) {
      const inode = `${stats.dev}:${stats.ino}`
      if (seen.has(inode)) continue
      seen.add(inode)
    }
    bytes += stats.blocks * blockBytes
    inodes++
    if (stats.isDirectory())
      for (const name of ifPresent(() => readdirSync(path!)) ?? []) pending.push(join(path, name))
    if (inodes % turn === 0) await nextTurn()
  }
  return { bytes, inodes }
}

function ifPresent<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}
