/** System calls that Node lacks, for files of layers. Loaded when the first layer needs them. */
import { cLibrary, ignoreErrors } from '../../../lib/linux/c-library.ts'
import { bytesOf } from '../tar/tar-entry.ts'

export interface LinuxCalls {
  /** Sets an extended attribute; does not follow a symbolic link. `path` is a byte string. */
  setAttribute(path: string, name: string, value: Buffer): void
  /** All extended attributes by name; does not follow a symbolic link. Empty where they are not supported. */
  attributes(path: string): Map<string, Buffer>
  /** Creates a device, a FIFO or a whiteout; `mode` has its type (S_IFCHR …). */
  makeNode(path: string, mode: number, major: number, minor: number): void
  /** Sets the times of access and change; does not follow a symbolic link. */
  setTime(path: string, seconds: number, nanoseconds: number): void
}

let loaded: LinuxCalls | undefined

/** Throws an Error if the optional package with system calls is not installed. */
export function linuxCalls(): LinuxCalls {
  loaded ??= load()
  return loaded
}

function load(): LinuxCalls {
  const { declare, check } = cLibrary()
  const setAttribute = declare<[path: Buffer, name: Buffer, value: Buffer, size: number, flags: number]>(
    'int lsetxattr(void *path, void *name, void *value, size_t size, int flags)',
  )
  const listAttributes = declare<[path: Buffer, list: Buffer, size: number]>(
    'long llistxattr(void *path, void *list, size_t size)',
  )
  const getAttribute = declare<[path: Buffer, name: Buffer, value: Buffer, size: number]>(
    'long lgetxattr(void *path, void *name, void *value, size_t size)',
  )
  // The kernel's limit of names together, and of a value.
  const [names, value] = [Buffer.alloc(1 << 16), Buffer.alloc(1 << 16)]
  const makeNode = declare<[path: Buffer, mode: number, device: number]>(
    'int mknod(void *path, uint32_t mode, uint64_t device)',
  )
  const setTimes = declare<[folder: number, path: Buffer, times: Buffer, flags: number]>(
    'int utimensat(int folder, void *path, void *times, int flags)',
  )
  return {
    setAttribute(path, name, value) {
      check(`lsetxattr '${path}'`, setAttribute(terminated(path), terminated(name), value, value.length, 0))
    },
    attributes(path) {
      let length = 0
      try {
        length = check(`llistxattr '${path}'`, listAttributes(terminated(path), names, names.length))
      } catch (error) {
        ignoreErrors(error, 'ENOTSUP', 'EOPNOTSUPP')
      }
      const found = names.toString('latin1', 0, length).split('\0').filter(Boolean)
      return new Map(
        found.map((name) => {
          const size = getAttribute(terminated(path), terminated(name), value, value.length)
          return [name, Buffer.from(value.subarray(0, check(`lgetxattr '${path}'`, size)))]
        }),
      )
    },
    makeNode(path, mode, major, minor) {
      check(`mknod '${path}'`, makeNode(terminated(path), mode, deviceOf(major, minor)))
    },
    setTime(path, seconds, nanoseconds) {
      const times = timesOf(seconds, nanoseconds)
      check(`utimensat '${path}'`, setTimes(atWorkingFolder, terminated(path), times, noFollow))
    },
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
