/** Constants of the kernel's system calls. */

/** In place of a folder: the current one. */
export const currentFolder = -100
export const emptyPath = 0x1000
export const recursive = 0x8000

export const openFlags = {
  write: 1,
  create: 0o100,
  noTerminal: 0o400,
  truncate: 0o1000,
  nonBlocking: 0o4000,
} as const

/** The flag of `open` for folders only. */
export const folderFlag = process.arch === 'arm64' ? 0o40_000 : 0o200_000

/** Flags of `mount`. */
export const mountFlags = {
  readOnly: 1,
  nosuid: 2,
  nodev: 4,
  noexec: 8,
  synchronous: 16,
  dirsync: 128,
  noatime: 1024,
  nodiratime: 2048,
  bind: 4096,
  recursive: 16_384,
  private: 1 << 18,
  slave: 1 << 19,
  shared: 1 << 20,
  relatime: 1 << 21,
  strictatime: 1 << 24,
} as const

/** Flags of `unshare` and `setns`. */
export const namespaceFlags = {
  mount: 0x2_0000,
  cgroup: 0x200_0000,
  uts: 0x400_0000,
  ipc: 0x800_0000,
  pid: 0x2000_0000,
  network: 0x4000_0000,
} as const

export const openTreeClone = 1
export const moveMountFlags = { fromEmptyPath: 4, followLinks: 0x10 } as const

export const signals = { child: 17, kill: 9, stop: 19, last: 64 } as const
