/** Folders in memory: tmpfs of a limited size, for secret content and for emptyDirs of medium `Memory`. */
import { mountAt } from '../../mounts/mount-table.ts'
import type { Mounter } from '../../mounts/mounter.ts'
import { makeVolumeFolder } from './volume-folder.ts'

export interface MemoryFoldersOptions {
  readonly mounter: Mounter
  /** The memory of the node that pods may use, in bytes. */
  readonly allocatableMemory: () => bigint
  /** True if the kernel knows the option `noswap` (since 6.4), and this process may use it. */
  readonly canDisableSwap: boolean
}

export class MemoryFolders {
  readonly #options: MemoryFoldersOptions

  constructor(options: MemoryFoldersOptions) {
    this.#options = options
  }

  /**
   * Makes a folder in memory. Resolves with false if it is one already. The size is the least of the node's memory and
   * those of `limits` (in bytes) that are above zero.
   */
  async mount(folder: string, limits: readonly bigint[]): Promise<boolean> {
    const { mounter } = this.#options
    if (mountAt(await mounter.list(), folder)?.type === 'tmpfs') return false
    await makeVolumeFolder(folder)
    await mounter.mount({ source: 'tmpfs', target: folder, type: 'tmpfs', options: this.#mountOptions(limits) })
    return true
  }

  #mountOptions(limits: readonly bigint[]): string[] {
    const { allocatableMemory, canDisableSwap } = this.#options
    let size = allocatableMemory()
    for (const limit of limits) if (limit > 0n && limit <= size) size = limit
    return [...(size > 0n ? [`size=${size}`] : []), ...(canDisableSwap ? ['noswap'] : [])]
  }
}

/** True for a kernel that knows `noswap`. `release` is such as `6.1.0-56-cloud-amd64`. */
export function knowsNoSwap(release: string): boolean {
  const [major = 0, minor = 0] = release.split(/[.-]/, 2).map(Number)
  return major > 6 || (major === 6 && minor >= 4)
}
