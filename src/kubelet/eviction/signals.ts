/** The signals of evictions: amounts of the node that may run short. */

export type PressureCondition = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure'

/** As in messages; `inodes` and `pids` are no resources of pods. */
export type StarvedResource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids'

interface SignalFacts {
  readonly resource: StarvedResource
  readonly condition: PressureCondition
}

const memory: SignalFacts = { resource: 'memory', condition: 'MemoryPressure' }
const disk: SignalFacts = { resource: 'ephemeral-storage', condition: 'DiskPressure' }
const inodes: SignalFacts = { resource: 'inodes', condition: 'DiskPressure' }

export const signals = {
  'memory.available': memory,
  'allocatableMemory.available': memory,
  'nodefs.available': disk,
  'nodefs.inodesFree': inodes,
  'imagefs.available': disk,
  'imagefs.inodesFree': inodes,
  'containerfs.available': disk,
  'containerfs.inodesFree': inodes,
  'pid.available': { resource: 'pids', condition: 'PIDPressure' },
} satisfies Readonly<Record<string, SignalFacts>>

export type Signal = keyof typeof signals

export const isSignal = (name: string): name is Signal => Object.hasOwn(signals, name)
