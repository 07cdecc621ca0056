/** The mounts of a process, as proc(5) describes `/proc/PID/mountinfo`. */

export interface MountPoint {
  readonly target: string
  /** The folder of the file system that is mounted: `/` for all of it. */
  readonly root: string
  /** `MAJOR:MINOR` of the file system. */
  readonly device: string
  readonly type: string
  readonly source: string
  readonly isReadOnly: boolean
  /** The options of the file system, such as `size=1024k`. */
  readonly options: readonly string[]
}

/** Lines of another form are skipped. */
export function parseMountTable(text: string): MountPoint[] {
  const mounts: MountPoint[] = []
  for (const line of text.split('\n')) {
    const [own = '', fileSystem = ''] = line.split(' - ')
    const [, , device, root, target, options] = own.split(' ')
    const [type, source = '', superOptions = ''] = fileSystem.split(' ')
    if (!device || !root || !target || !type) continue
    mounts.push({
      target: unescaped(target),
      root: unescaped(root),
      device,
      type,
      source: unescaped(source),
      isReadOnly: options?.split(',')[0] === 'ro',
      options: superOptions.split(','),
    })
  }
  return mounts
}

/** Blanks, tabs, line breaks and backslashes are octal, such as `\040`. */
const unescaped = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))

/** The topmost mount of exactly this path. */
export const mountAt = (mounts: readonly MountPoint[], path: string): MountPoint | undefined =>
  mounts.findLast(({ target }) => target === path)

/** The mounts at a path and beneath it, in the order in which they can be unmounted. */
export const mountsWithin = (mounts: readonly MountPoint[], path: string): MountPoint[] =>
  mounts.filter(({ target }) => target === path || target.startsWith(`${path}/`)).toReversed()

/** The targets at which a folder is mounted, such as by bind mounts. The folder's own place is not one of them. */
export function mountsOfFolder(mounts: readonly MountPoint[], folder: string): string[] {
  const holder = holderOf(mounts, folder)
  if (!holder) return []
  const root = joined(holder.root, folder.slice(holder.target === '/' ? 0 : holder.target.length))
  return mounts
    .filter((mount) => mount.device === holder.device && mount.root === root && mount.target !== folder)
    .map(({ target }) => target)
}

/** The mount that a folder is in: the one with the longest target, of several the topmost. */
function holderOf(mounts: readonly MountPoint[], folder: string): MountPoint | undefined {
  let holder: MountPoint | undefined
  for (const mount of mounts)
    if (isWithin(folder, mount.target) && mount.target.length >= (holder?.target.length ?? 0)) holder = mount
  return holder
}

const isWithin = (path: string, folder: string): boolean =>
  folder === '/' || path === folder || path.startsWith(`${folder}/`)

const joined = (root: string, rest: string): string => (root === '/' ? rest || '/' : `${root}${rest}`)
