/** The amounts that are available of the node, by signal. */
import type { UsageSnapshot } from '../stats/usage/usage-snapshot.ts'
import type { Signal } from './signals.ts'

/** In bytes, or numbers of inodes and processes. */
export interface Observation {
  readonly available: number
  readonly capacity: number
}

export type Observations = ReadonlyMap<Signal, Observation>

/** A signal that cannot be observed is missing. */
export function observationsOf(snapshot: UsageSnapshot): Observations {
  const { node, fileSystem, imageFileSystem, system } = snapshot
  const found = new Map<Signal, Observation>()
  const { available, workingSet } = node.memory
  found.set('memory.available', { available, capacity: available + workingSet })
  const pods = system.find(({ name }) => name === 'pods')?.usage.memory
  if (pods?.limit !== undefined) {
    const free = Math.max(0, pods.limit - pods.workingSet)
    found.set('allocatableMemory.available', { available: free, capacity: free + pods.workingSet })
  }
  for (const [name, usage] of [
    ['nodefs', fileSystem],
    ['imagefs', imageFileSystem],
    ['containerfs', imageFileSystem],
  ] as const) {
    if (!usage) continue
    found.set(`${name}.available`, { available: usage.availableBytes, capacity: usage.capacityBytes })
    // Some file systems do not count inodes.
    if (usage.inodes > 0) found.set(`${name}.inodesFree`, { available: usage.inodesFree, capacity: usage.inodes })
  }
  if (node.maxPid > 0) found.set('pid.available', { available: node.maxPid - node.processes, capacity: node.maxPid })
  return found
}
