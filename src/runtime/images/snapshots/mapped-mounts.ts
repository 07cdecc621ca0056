/** Idmapped mounts: their files belong to the users of a user namespace. Linux 5.12; below an overlay, Linux 5.19. */
import { closeSync, openSync } from 'node:fs'
import { release } from 'node:os'
import { cLibrary } from '../../../lib/linux/c-library.ts'
import type { DriverName } from './snapshot-driver.ts'

const openTree = 428
const moveMount = 429
const mountSetattr = 442
/** AT_FDCWD. */
const workingFolder = -100
/** OPEN_TREE_CLONE and OPEN_TREE_CLOEXEC. */
const cloneTree = 0x8_0001
/** MOVE_MOUNT_F_EMPTY_PATH. */
const fromFile = 4
/** AT_EMPTY_PATH. */
const emptyPath = 0x1000
/** MOUNT_ATTR_IDMAP. */
const mapped = 0x10_0000
/** A `mount_attr`: what to set, to clear, the propagation, and the user namespace. */
const attributeBytes = 32

type Call = (number: number, a: number, b: string, c: number, d: string | Buffer | null, e: number) => number

/** True if root file systems of this driver can have other owners. */
export function canMapUsers(driver: DriverName, kernel = release()): boolean {
  const [major = 0, minor = 0] = kernel.split('.').map(Number)
  return driver === 'overlay' && (major > 5 || (major === 5 && minor >= 19))
}

/** Mounts a folder at another. Throws a SystemCallError if its file system does not support it. */
export function mountMapped(source: string, target: string, userNamespace: string): void {
  const { declare, check } = cLibrary()
  const withPath = declare<Parameters<Call>>('long syscall(long n, long a, const char *b, long c, void *d, long e)')
  const move = declare<[number, number, string, number, string, number]>(
    'long syscall(long n, long a, const char *b, long c, const char *d, long e)',
  )
  const tree = check(`open_tree ${source}`, withPath(openTree, workingFolder, source, cloneTree, null, 0))
  const users = openSync(userNamespace, 'r')
  try {
    const attributes = Buffer.alloc(attributeBytes)
    attributes.writeBigUInt64LE(BigInt(mapped))
    attributes.writeBigUInt64LE(BigInt(users), 24)
    const set = withPath(mountSetattr, tree, '', emptyPath, attributes, attributeBytes)
    check(`mount_setattr ${source}`, set)
    check(`move_mount ${target}`, move(moveMount, tree, '', workingFolder, target, fromFile))
  } finally {
    closeSync(users)
    closeSync(tree)
  }
}
