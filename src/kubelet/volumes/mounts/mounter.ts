/** Mounts file systems. The real one is `linux-mounter.ts`. */
import type { MountPoint } from './mount-table.ts'

export interface MountRequest {
  readonly source: string
  readonly target: string
  /** The file system's type, such as `tmpfs`. Absent for bind mounts. */
  readonly type?: string
  /** Such as `bind`, `ro`, `size=1048576`. */
  readonly options: readonly string[]
}

export interface Mounter {
  /** The mounts of this mount namespace, in the order of their making. */
  list(): Promise<readonly MountPoint[]>
  /** Neither source nor target are canonicalized, so that `/proc/PID/fd/N` stays what it is. */
  mount(request: MountRequest): Promise<void>
  /** Unmounts the topmost mount of a path. Does nothing if nothing is mounted there. */
  unmount(target: string): Promise<void>
}
