/** mount(2) and umount2(2), in the mount namespace of this process. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { cLibrary } from '../../../lib/linux/c-library.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { ImageError } from '../image-error.ts'
import type { RootMount } from './snapshots.ts'

const run = promisify(execFile)

type Mount = (source: string, target: string, type: string, flags: number, data: string) => number
type Unmount = (target: string, flags: number) => number

/** Flags of mount(2) by the option's name. */
const flagsByOption: Readonly<Record<string, number>> = { ro: 1, nosuid: 2, nodev: 4, bind: 0x1000, rbind: 0x5000 }
const remountReadOnly = 0x1021
const bindFlag = 0x1000
const detachFlag = 2
/** Longer options do not fit into the page that mount(2) copies, in bytes. */
const maxDataBytes = 4095

let loaded: { readonly mount: Mount; readonly unmount: Unmount } | undefined

function calls() {
  loaded ??= load()
  return loaded
}

function load() {
  const { declare, check } = cLibrary()
  const mount = declare<Parameters<Mount>>(
    'int mount(const char *source, const char *target, const char *type, unsigned long flags, const char *data)',
  )
  const unmount = declare<Parameters<Unmount>>('int umount2(const char *target, int flags)')
  const checked = (call: string, result: () => number): number => {
    try {
      return check(call, result())
    } catch (error) {
      throw new ImageError('Unknown', messageOf(error))
    }
  }
  return {
    mount: (source: string, target: string, type: string, flags: number, data: string) =>
      checked(`mount ${target}`, () => mount(source, target, type, flags, data)),
    unmount: (target: string, flags: number) => checked(`unmount ${target}`, () => unmount(target, flags)),
  }
}

/** Mounts at an existing folder. `fuse.` types are programs. Throws an ImageError if the kernel refuses. */
export async function mountAt({ type, source, options }: RootMount, target: string): Promise<void> {
  if (type === 'fuse.fuse-overlayfs') {
    await run('fuse-overlayfs', ['-o', options.join(','), target])
    return
  }
  const flags = options.reduce((sum, option) => sum | (flagsByOption[option] ?? 0), 0)
  const data = options.filter((option) => !Object.hasOwn(flagsByOption, option)).join(',')
  if (Buffer.byteLength(data) > maxDataBytes)
    throw new ImageError(
      'FailedPrecondition',
      `the image has too many layers for ${type}: its options have ${data.length} bytes`,
    )
  calls().mount(source, target, type === 'bind' ? 'none' : type, flags, data)
  // A bind mount takes other flags with a second call only.
  if (flags & bindFlag && flags & 1) calls().mount('none', target, 'none', remountReadOnly, '')
}

/** Unmounts everything at a path. Does nothing if nothing is mounted. */
export function unmountAt(target: string): void {
  while (isMountPoint(target)) calls().unmount(target, detachFlag)
}

/** True if something is mounted at exactly this path. */
export const isMountPoint = (path: string): boolean =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .some((line) => unescaped(line.split(' ', 5)[4] ?? '') === path)

const unescaped = (field: string): string =>
  field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
