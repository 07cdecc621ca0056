/** System calls that Node lacks, for files of layers. Loaded when the first layer needs them. */
import { createRequire } from 'node:module'
import { getSystemErrorName } from 'node:util'
import { bytesOf } from '../tar/tar-entry.ts'

export interface LinuxCalls {
  /** Sets an extended attribute; does not follow a symbolic link. `path` is a byte string. */
  setAttribute(path: string, name: string, value: Buffer): void
  /** Creates a device, a FIFO or a whiteout; `mode` has its type (S_IFCHR …). */
  makeNode(path: string, mode: number, major: number, minor: number): void
  /** Sets the times of access and change; does not follow a symbolic link. */
  setTime(path: string, seconds: number, nanoseconds: number): void
}

class CallError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

type SetAttribute = (path: Buffer, name: Buffer, value: Buffer, size: number, flags: number) => number
type SetTimes = (folder: number, path: Buffer, times: Buffer, flags: number) => number
type MakeNode = (path: Buffer, mode: number, device: number) => number

let loaded: LinuxCalls | undefined

/** Throws an Error if the optional package with system calls is not installed. */
export function linuxCalls(): LinuxCalls {
  loaded ??= load()
  return loaded
}

function load(): LinuxCalls {
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi')
  const libc = koffi.load('libc.so.6')
  const setAttribute = libc.func(
    'int lsetxattr(void *path, void *name, void *value, size_t size, int flags)',
  ) as unknown as SetAttribute
  const makeNode = libc.func('int mknod(void *path, uint32_t mode, uint64_t device)') as unknown as MakeNode
  const setTimes = libc.func('int utimensat(int folder, void *path, void *times, int flags)') as unknown as SetTimes
  const check = (result: number, call: string, path: string): void => {
    if (result === 0) return
    const code = getSystemErrorName(-koffi.errno())
    throw new CallError(code, `${code}: ${call} '${path}'`)
  }
  return {
    setAttribute: (path, name, value) =>
      check(setAttribute(terminated(path), terminated(name), value, value.length, 0), 'lsetxattr', path),
    makeNode: (path, mode, major, minor) =>
      check(makeNode(terminated(path), mode, deviceOf(major, minor)), 'mknod', path),
    setTime: (path, seconds, nanoseconds) =>
      check(setTimes(atWorkingFolder, terminated(path), timesOf(seconds, nanoseconds), noFollow), 'utimensat', path),
  }
}

const terminated = (text: string): Buffer => bytesOf(`${text}\0`)

/** AT_FDCWD and AT_SYMLINK_NOFOLLOW of fcntl.h. */
const atWorkingFolder = -100
const noFollow = 0x100

/** Two equal times as `struct timespec`. */
function timesOf(seconds: number, nanoseconds: number): Buffer {
  const times = Buffer.alloc(32)
  for (const at of [0, 16]) {
    times.writeBigInt64LE(BigInt(seconds), at)
    times.writeBigInt64LE(BigInt(nanoseconds), at + 8)
  }
  return times
}

/** As makedev(3). */
const deviceOf = (major: number, minor: number): number =>
  (major & 0xfff) * 0x100 + (minor & 0xff) + Math.floor(minor / 0x100) * 0x100000
