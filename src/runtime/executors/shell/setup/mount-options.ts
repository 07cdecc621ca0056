/** Options of mounts in the forms that the kernel's calls have. */
import { mountFlags } from './kernel-constants.ts'

export interface MountCall {
  /** Flags of `mount`. */
  readonly flags: number
  /** Options of the file system. */
  readonly data: string
}

export interface TreeAttributes {
  readonly attributes: number
  readonly isRecursiveReadOnly: boolean
  readonly isRecursive: boolean
  /** A flag of propagation; 0 for that of the source. */
  readonly propagation: number
  readonly isPropagationRecursive: boolean
}

const flagNames: Readonly<Record<string, number>> = {
  ro: mountFlags.readOnly,
  nosuid: mountFlags.nosuid,
  nodev: mountFlags.nodev,
  noexec: mountFlags.noexec,
  sync: mountFlags.synchronous,
  dirsync: mountFlags.dirsync,
  noatime: mountFlags.noatime,
  nodiratime: mountFlags.nodiratime,
  relatime: mountFlags.relatime,
  strictatime: mountFlags.strictatime,
}

/** Options that say what is so already. */
const defaults: ReadonlySet<string> = new Set(['rw', 'suid', 'dev', 'exec', 'async', 'atime', 'diratime', 'defaults'])

export function mountCallOf(options: readonly string[]): MountCall {
  let flags = 0
  const data: string[] = []
  for (const option of options) {
    if (Object.hasOwn(flagNames, option)) flags |= flagNames[option]!
    else if (!defaults.has(option) && !Object.hasOwn(propagations, option)) data.push(option)
  }
  return { flags, data: data.join(',') }
}

const propagations: Readonly<Record<string, number>> = {
  private: mountFlags.private,
  rprivate: mountFlags.private,
  slave: mountFlags.slave,
  rslave: mountFlags.slave,
  shared: mountFlags.shared,
  rshared: mountFlags.shared,
}

/** The numbers of the first four are those of `mount`. */
const attributeNames: Readonly<Record<string, number>> = {
  ro: mountFlags.readOnly,
  rro: mountFlags.readOnly,
  nosuid: mountFlags.nosuid,
  nodev: mountFlags.nodev,
  noexec: mountFlags.noexec,
  nodiratime: 0x80,
}

/** The options of a bind mount. Others are those of the source's mount, which cannot change. */
export function treeAttributesOf(options: readonly string[]): TreeAttributes {
  const propagation = options.findLast((option) => Object.hasOwn(propagations, option)) ?? ''
  return {
    attributes: options.reduce((sum, option) => sum | (attributeNames[option] ?? 0), 0),
    isRecursiveReadOnly: options.includes('rro'),
    isRecursive: options.includes('rbind'),
    propagation: propagations[propagation] ?? 0,
    isPropagationRecursive: propagation.startsWith('r'),
  }
}

/** The flags of `mount` for the propagation of a root. */
export const propagationOf = (name: string): number =>
  (propagations[name] ?? 0) | (name.startsWith('r') ? mountFlags.recursive : 0)
