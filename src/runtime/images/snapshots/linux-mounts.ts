/** Mounts of root file systems, in the mount namespace of this process. */
import { execFile } from 'node:child_process'
import { closeSync, constants, openSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { bindMount, mountCalls } from '../../../lib/linux/mount-calls.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { ImageError } from '../image-error.ts'
import type { RootMount } from './snapshots.ts'

const run = promisify(execFile)

/** Flags of mount(2) by the option's name. */
const flagsByOption: Readonly<Record<string, number>> = { ro: 1, nosuid: 2, nodev: 4, bind: 0x1000, rbind: 0x5000 }
const remountReadOnly = 0x1021
/** Longer options do not fit into the page that mount(2) copies, in bytes. */
const maxDataBytes = 4095

/** Mounts at an existing folder. `fuse.` types are programs. Throws an ImageError if the kernel refuses. */
export async function mountAt({ type, source, options }: RootMount, target: string): Promise<void> {
  if (type === 'fuse.fuse-overlayfs') {
    await run('fuse-overlayfs', ['-o', options.join(','), target])
    return
  }
  const flags = options.reduce((sum, option) => sum | (flagsByOption[option] ?? 0), 0)
  const others = options.filter((option) => !Object.hasOwn(flagsByOption, option))
  const { mount } = mountCalls()
  try {
    withShortOptions(others, (data) => mount(source, target, type === 'bind' ? 'none' : type, flags, data))
    // A bind mount takes other flags with a second call only.
    if (flags & bindMount && flags & 1) mount('none', target, 'none', remountReadOnly, '')
  } catch (error) {
    throw new ImageError('Unknown', messageOf(error))
  }
}

/**
 * Calls `use` with options joined by commas. If they are too long, the folders of an overlay are named by open files:
 * an image has up to 127 layers.
 */
function withShortOptions(options: readonly string[], use: (data: string) => void): void {
  const data = options.join(',')
  if (Buffer.byteLength(data) <= maxDataBytes) {
    use(data)
    return
  }
  const files: number[] = []
  const open = (path: string): string => {
    files.push(openSync(path.replaceAll('\\:', ':'), constants.O_RDONLY | constants.O_DIRECTORY))
    return `/proc/self/fd/${files.at(-1)}`
  }
  try {
    const short = options.map((option) => {
      const [, name, paths = ''] = /^(lowerdir|upperdir|workdir)=(.*)$/s.exec(option) ?? []
      return name
        ? `${name}=${paths
            .split(/(?<!\\):/)
            .map(open)
            .join(':')}`
        : option
    })
    use(short.join(','))
  } finally {
    for (const file of files) closeSync(file)
  }
}

/** Unmounts everything at a path. Does nothing if nothing is mounted. */
export function unmountAt(target: string): void {
  try {
    mountCalls().unmount(target)
  } catch (error) {
    throw new ImageError('Unknown', messageOf(error))
  }
}

/** True if something is mounted at exactly this path. */
export const isMountPoint = (path: string): boolean =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .some((line) => unescaped(line.split(' ', 5)[4] ?? '') === path)

const unescaped = (field: string): string =>
  field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
